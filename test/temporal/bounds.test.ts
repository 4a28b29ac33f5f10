/** What users and agents write has a bound wherever a server has one: short on the server, whole in the store and for the agent. */
import { createHash } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ParleyError } from '../../core/parley-error.ts';
import { userId } from '../../core/ids.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { TEXT_BYTES_MAX } from '../../temporal/kept-texts.ts';
import { moveOnSignal } from '../../workflows/envelope.ts';
import { conversationAt, message, started } from '../engine/engine-harness.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { deploy, type Deployment } from './support/deployment.ts';
import { eventually, SLOW_MS, untilConversation } from './support/eventually.ts';
import { runsOf } from './support/histories.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';

installQuietRuntime();

const FINISHED = { startTask: 'READY', executionStatus: 'FINISHED', queuedMessages: 0 } as const;
const workflowOf = (index: number): string => `conversation/${conversationAt(index)}`;

/** Text that no compression makes small, of any length and always the same. */
function noise(length: number, seed: string): string {
  let text = '';
  for (let part = 0; text.length < length; part += 1)
    text += createHash('sha512').update(`${seed}${part}`).digest('base64');
  return text.slice(0, length);
}

/** Texts of messages as they were given to the agent. */
const given = ({ ran }: Deployment): readonly string[] =>
  ran.flatMap(({ command }) =>
    command.type === 'deliverItem' && command.item.kind === 'message' ? [command.item.text] : [],
  );

function payloadsIn(value: unknown): readonly Payload[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  if ('metadata' in value && 'data' in value && value.data instanceof Uint8Array) return [value as Payload];
  return Object.values(value).flatMap(payloadsIn);
}

/** Of the largest payload in any run of the workflow. */
async function largestPayload({ client }: Deployment, workflowId: string): Promise<number> {
  const sizes = (await runsOf(client, workflowId)).flatMap(({ history }) =>
    payloadsIn(history).map(({ data }) => data?.length ?? 0),
  );
  return Math.max(...sizes);
}

let server: DevServer;

describeWith('temporal', 'what is longer than a server takes', () => {
  beforeAll(async () => {
    server = await startServerForTests();
  }, SLOW_MS);
  afterAll(() => server?.stop(), SLOW_MS);

  it(
    'are tags: fifty of the longest, twelve of 200 characters, in letters of four bytes',
    async () => {
      const deployment = await deploy({ address: server.address });
      const { entities, store } = deployment;
      const twelve = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`tag${at}`, 'x'.repeat(200)]));
      const fifty = Object.fromEntries(
        Array.from({ length: 50 }, (_, at) => [`t${at}`, '\u{1f600}'.repeat(256)]),
      );
      await entities.requests.deliver(started(1, { tags: twelve }));
      await untilConversation(deployment, conversationAt(1), FINISHED);
      const change = { type: 'metadataChanged', requestId: 'fifty', title: null, tags: fifty } as const;
      await entities.requests.deliver({
        to: { machine: 'conversation', id: conversationAt(1) },
        event: change,
      });
      await untilConversation(deployment, conversationAt(1), { tags: fifty });
      await entities.requests.deliver(message(1, 'after'));
      await eventually(() => deployment.idsOf('deliverItem').length, 2);
      await untilConversation(deployment, conversationAt(1), FINISHED);
      expect((await store.records.conversation(conversationAt(1)))?.tags).toEqual(fifty);
    },
    SLOW_MS,
  );

  it(
    'is the owner, in characters of four bytes',
    async () => {
      const deployment = await deploy({ address: server.address });
      const owner = userId('\u{1f600}'.repeat(128));
      await deployment.entities.requests.deliver(started(2, { userId: owner }));
      await untilConversation(deployment, conversationAt(2), { ...FINISHED, userId: owner });
    },
    SLOW_MS,
  );

  it(
    'are messages: the first, one that follows, and as many as can wait while their run is continued as new',
    async () => {
      const deployment = await deploy({ address: server.address, eventsMax: 12 });
      const { entities, client } = deployment;
      const first = noise(4_000_000, 'first');
      const initialMessage = { messageId: 'first-3', text: first, run: true };
      await entities.requests.deliver(started(3, { initialMessage }));
      await untilConversation(deployment, conversationAt(3), FINISHED);
      const texts = Array.from({ length: 20 }, (_, at) => noise(300_000, `message ${at}`));
      for (const [at, text] of texts.entries()) {
        const event = { type: 'messageReceived', messageId: `m${at}`, text, run: true } as const;
        const notifier = at % 2 === 0 ? entities.requests : entities.notices;
        await notifier.deliver({ to: { machine: 'conversation', id: conversationAt(3) }, event });
      }
      await client.getHandle(workflowOf(3)).signal(moveOnSignal);
      await eventually(() => new Set(given(deployment)).size, 21);
      expect([...new Set(given(deployment))]).toEqual([first, ...texts]);
      await untilConversation(deployment, conversationAt(3), FINISHED);
      expect(await largestPayload(deployment, workflowOf(3))).toBeLessThan(256 * 1024);
    },
    SLOW_MS,
  );

  it(
    'is a message that is as long as may be, and one that ends as if it had been cut',
    async () => {
      const deployment = await deploy({ address: server.address });
      await deployment.entities.requests.deliver(started(4));
      await untilConversation(deployment, conversationAt(4), FINISHED);
      const texts = [
        'a'.repeat(TEXT_BYTES_MAX),
        `${'b'.repeat(TEXT_BYTES_MAX - 3)}…`,
        `${'é'.repeat(TEXT_BYTES_MAX)}`,
      ];
      for (const [at, text] of texts.entries()) {
        const event = { type: 'messageReceived', messageId: `m${at}`, text, run: true } as const;
        await deployment.entities.requests.deliver({
          to: { machine: 'conversation', id: conversationAt(4) },
          event,
        });
      }
      await eventually(() => given(deployment).slice(1), texts);
    },
    SLOW_MS,
  );

  it(
    'are the reasons of an agent and of a failure that is tried again',
    async () => {
      const reason = noise(3_000_000, 'reason');
      let tries = 0;
      const deployment = await deploy({
        address: server.address,
        activities: {
          prepareRepository: ({ id: commandId }) => {
            tries += 1;
            if (tries === 1) throw new ParleyError('agent_unreachable', `Cannot clone: ${reason}`);
            return { type: 'stepFailed', commandId, code: 'repository_failed', reason };
          },
        },
      });
      await deployment.entities.requests.deliver(started(5));
      await untilConversation(deployment, conversationAt(5), { startTask: 'ERROR' });
      const { startTaskDetail } = (await deployment.store.records.conversation(conversationAt(5))) ?? {};
      expect(startTaskDetail).toContain(reason.slice(0, 1_000));
      expect(await largestPayload(deployment, workflowOf(5))).toBeLessThan(32 * 1024);
    },
    SLOW_MS,
  );

  it(
    'is the id of a request: a repeat of it is still the same one',
    async () => {
      const deployment = await deploy({ address: server.address });
      await deployment.entities.requests.deliver(started(6));
      await untilConversation(deployment, conversationAt(6), FINISHED);
      const messageId = noise(5_000, 'id');
      for (const text of ['one', 'one', 'one']) {
        const event = { type: 'messageReceived', messageId, text, run: true } as const;
        await deployment.entities.requests.deliver({
          to: { machine: 'conversation', id: conversationAt(6) },
          event,
        });
      }
      await eventually(() => given(deployment).slice(1), ['one']);
    },
    SLOW_MS,
  );
});
