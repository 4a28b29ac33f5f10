/** Search attributes on a real server: typed, found by a query, and written when a status changes and at no other time. */
import type { Payload } from '@temporalio/common';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runId, userId } from '../../core/ids.ts';
import { ACTIVITY_COMMAND_TYPES } from '../../core/machine/resource.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { CONVERSATION_SPEC } from '../core/conversation-life.ts';
import { conversationAt, message, started } from '../engine/engine-harness.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { deploy, type Deployment } from './support/deployment.ts';
import { eventually, SLOW_MS, untilConversation } from './support/eventually.ts';
import { runsOf } from './support/histories.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';

installQuietRuntime();

const ID = conversationAt(1);
const WORKFLOW = `conversation/${ID}`;
const FINISHED = { startTask: 'READY', executionStatus: 'FINISHED', queuedMessages: 0 } as const;

type Written = Readonly<Record<string, { readonly type: string; readonly value: unknown }>>;

/** What the history says was written, the start first. */
async function writtenIn({ client }: Deployment, workflowId: string): Promise<readonly Written[]> {
  const runs = await runsOf(client, workflowId);
  return runs.flatMap(({ history }) =>
    (history.events ?? []).flatMap((event) => {
      const fields =
        event.workflowExecutionStartedEventAttributes?.searchAttributes?.indexedFields ??
        event.upsertWorkflowSearchAttributesEventAttributes?.searchAttributes?.indexedFields;
      return fields === undefined || fields === null ? [] : [readable(fields)];
    }),
  );
}

function readable(fields: Readonly<Record<string, Payload>>): Written {
  const text = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('utf8');
  return Object.fromEntries(
    Object.entries(fields).map(([name, { metadata, data }]) => [
      name,
      { type: text(metadata?.['type']), value: JSON.parse(text(data)) as unknown },
    ]),
  );
}

describeWith('temporal', 'what an operator can search for', () => {
  let server: DevServer;
  beforeAll(async () => {
    server = await startServerForTests();
  }, SLOW_MS);
  afterAll(() => server?.stop(), SLOW_MS);

  it('is what is done, by the name of the command, and whose it is', { timeout: SLOW_MS }, async () => {
    const deployment = await deploy({ address: server.address });
    const { entities, client } = deployment;
    const id = conversationAt(2);
    const owner = userId('\u{1f600}'.repeat(128));
    await entities.requests.deliver(
      started(2, { userId: owner, title: 'Mend the door', runId: runId('r'), key: 'k' }),
    );
    await untilConversation(deployment, id, FINISHED);
    const runs = await runsOf(client, `conversation/${id}`);
    const types = runs.flatMap(({ history }) =>
      (history.events ?? []).flatMap(
        (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
      ),
    );
    expect(types).toEqual(expect.arrayContaining(['openAgent', 'deliverItem']));
    expect(types.filter((type) => !(ACTIVITY_COMMAND_TYPES as readonly string[]).includes(type))).toEqual([]);
    const described = await client.getHandle(`conversation/${id}`).describe();
    expect(described.memo).toEqual({
      owner: `${'\u{1f600}'.repeat(63)}…`,
      run: 'r',
      key: 'k',
      title: 'Mend the door',
    });
    expect(await described.staticSummary()).toBe('item k of run r: Mend the door');
    expect(described.priority?.fairnessKey).toBe(`${'\u{1f600}'.repeat(15)}…`);
  });

  it('is typed, is found, and is written on changes alone', { timeout: SLOW_MS }, async () => {
    const deployment = await deploy({ address: server.address });
    const { entities, client } = deployment;
    await entities.requests.deliver(started(1, { tags: { team: 'a', area: 'x' } }));
    await untilConversation(deployment, ID, FINISHED);
    await entities.requests.deliver(message(1, 'second'));
    await eventually(() => deployment.idsOf('deliverItem').length, 2);
    await untilConversation(deployment, ID, FINISHED);

    const statuses = async (): Promise<readonly unknown[]> =>
      (await writtenIn(deployment, WORKFLOW)).map((fields) => fields['ParleyStatus']?.value);
    // Four steps of the start are one status; the history has it a moment after the record.
    await eventually(statuses, ['STARTING', 'RUNNING', 'FINISHED', 'RUNNING', 'FINISHED']);
    expect((await writtenIn(deployment, WORKFLOW)).at(-1)).toEqual({
      ParleyStatus: { type: 'Keyword', value: 'FINISHED' },
      ParleyOwner: { type: 'Keyword', value: CONVERSATION_SPEC.userId },
      ParleyTags: { type: 'KeywordList', value: ['area=x', 'team=a'] },
    });

    const query = "ParleyTags = 'team=a' AND ParleyStatus = 'FINISHED'";
    const found = async (): Promise<readonly string[]> => {
      const ids: string[] = [];
      for await (const { workflowId } of client.list({ query })) ids.push(workflowId);
      return ids;
    };
    await eventually(found, [WORKFLOW]);
  });
});
