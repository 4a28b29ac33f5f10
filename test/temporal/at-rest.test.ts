/** What is over keeps no workflow open: its record answers, and a request that needs more begins a new one. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addressOfCommand, conversationId, runId, userId } from '../../core/ids.ts';
import type { Delivery } from '../../ports/notifier.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { CONVERSATION_SPEC } from '../core/conversation-life.ts';
import { ITEM, RULES } from '../core/run-life.ts';
import { conversationAt, message, started } from '../engine/engine-harness.ts';
import { sandboxOf } from '../engine/fake-activities.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { deploy, type Deployment } from './support/deployment.ts';
import { eventually, SLOW_MS, untilConversation, untilEnded } from './support/eventually.ts';
import { runsOf } from './support/histories.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';
import { RUN_ENDS } from './support/run-ends.ts';

installQuietRuntime();

type Kept = 'keep' | 'delete';
/** More than are started at once, few enough for a busy machine. */
const ITEMS = 16;
const FINISHED = { startTask: 'READY', executionStatus: 'FINISHED', queuedMessages: 0 } as const;
const runOf = (kept: Kept) => runId(`batch-${kept}`);
/** A server has one life for an id. */
const conversationOf = (kept: Kept, index: number) =>
  conversationId(`${kept === 'keep' ? 'c' : 'd'}${index}`.padStart(32, '0'));
const workflowOf = (index: number): string => `conversation/${conversationAt(index)}`;

let server: DevServer;

const openOf = async ({ client, queue }: Deployment): Promise<number> =>
  (await client.count(`TaskQueue = '${queue}' AND ExecutionStatus = 'Running'`)).count;

/** Its items begin conversations, and its clean-up deletes their sandboxes. */
async function deployBatch(kept: Kept): Promise<Deployment> {
  const late: { entities: Deployment['entities'] | null } = { entities: null };
  const deliver = async (delivery: Delivery): Promise<void> => late.entities?.notices.deliver(delivery);
  const deployment = await deploy({
    address: server.address,
    activities: {
      startConversation: async ({ id: commandId, index, key }) => {
        const id = conversationOf(kept, index);
        const initialMessage = { messageId: `first-${index}`, text: 't', run: true };
        const own = { conversationId: id, runId: runOf(kept), key, itemIndex: index, initialMessage };
        const spec = { ...CONVERSATION_SPEC, ...own };
        const event = { type: 'started', spec, watcher: addressOfCommand(commandId) } as const;
        await deliver({ to: { machine: 'conversation', id }, event });
        return { type: 'conversationStarted', commandId, index, conversationId: id };
      },
      ...RUN_ENDS,
      cleanUpSandbox: async ({ id: commandId, sandboxId }) => {
        const event = { type: 'deleteRequested', requestId: commandId } as const;
        await deliver({ to: { machine: 'sandbox', id: sandboxId }, event });
        return { type: 'sandboxCleanedUp', commandId, sandboxId, isOurs: true };
      },
    },
  });
  late.entities = deployment.entities;
  return deployment;
}

async function startBatch({ entities }: Deployment, conversation: Kept): Promise<void> {
  const id = runOf(conversation);
  const cleanup = { ...RULES.cleanup, conversation };
  const items = Array.from({ length: ITEMS }, (_, index) => ({ ...ITEM, key: `k${index}` }));
  const rules = { ...RULES, concurrency: 8, settleMs: null, cleanup };
  const spec = { runId: id, userId: userId('u'), name: 'n', planHash: 'h', rules, items };
  await entities.requests.deliver({ to: { machine: 'run', id }, event: { type: 'runStarted', spec } });
}

/** A conversation whose sandbox is gone, and that has no workflow any more. */
async function putAway(index: number): Promise<Deployment> {
  const deployment = await deploy({ address: server.address });
  const id = conversationAt(index);
  await deployment.entities.requests.deliver(started(index));
  await untilConversation(deployment, id, FINISHED);
  const event = { type: 'deleteRequested', requestId: 'gone' } as const;
  await deployment.entities.requests.deliver({ to: { machine: 'sandbox', id: sandboxOf(id) }, event });
  await untilConversation(deployment, id, { sandboxStatus: 'MISSING' });
  await untilEnded(deployment, workflowOf(index));
  await untilEnded(deployment, `sandbox/${sandboxOf(id)}`);
  return deployment;
}

describeWith('temporal', 'what is over', () => {
  beforeAll(async () => {
    server = await startServerForTests();
  }, SLOW_MS);
  afterAll(() => server?.stop(), SLOW_MS);

  it.each(['keep', 'delete'] as const)(
    'leaves no workflow open after a batch that deletes its sandboxes, conversations: %s',
    async (conversation) => {
      const deployment = await deployBatch(conversation);
      await startBatch(deployment, conversation);
      await eventually(
        async () => (await deployment.store.records.run(runOf(conversation)))?.phase,
        'finished',
      );
      await eventually(() => openOf(deployment), 0);
      for (const index of [0, ITEMS - 1]) {
        const row = await deployment.store.records.conversation(conversationOf(conversation, index));
        if (conversation === 'keep')
          expect(row).toMatchObject({ executionStatus: 'FINISHED', sandboxStatus: 'MISSING' });
      }
      const removed = conversation === 'delete' ? ITEMS : 0;
      await eventually(() => deployment.idsOf('removeConversation').length, removed);
      await eventually(() => openOf(deployment), 0);
      expect(deployment.failures).toEqual([]);
    },
    2 * SLOW_MS,
  );

  it(
    'answers what changes nothing from its record, and begins no workflow for it',
    async () => {
      const deployment = await putAway(1);
      const before = await runsOf(deployment.client, workflowOf(1));
      const to = { machine: 'conversation', id: conversationAt(1) } as const;
      for (const notifier of [deployment.entities.requests, deployment.entities.notices]) {
        await notifier.deliver(started(1));
        await notifier.deliver({ to, event: { type: 'accessRequested', requestId: 'look' } });
      }
      expect(await runsOf(deployment.client, workflowOf(1))).toEqual(before);
    },
    SLOW_MS,
  );

  it(
    'is taken up for a message, which is refused, for metadata and for its deletion, and ends after each',
    async () => {
      const deployment = await putAway(2);
      const { entities, store } = deployment;
      const id = conversationAt(2);
      const to = { machine: 'conversation', id } as const;
      const refusals = (): number => deployment.ran.filter(({ command }) => command.type === 'record').length;
      await entities.requests.deliver(message(2, 'late'));
      await eventually(refusals, 1);
      await untilEnded(deployment, workflowOf(2));
      await entities.notices.deliver(message(2, 'late'));
      const change = { type: 'metadataChanged', requestId: 'm', title: 'new', tags: { a: 'b' } } as const;
      await entities.notices.deliver({ to, event: change });
      await untilConversation(deployment, id, { title: 'new', tags: { a: 'b' } });
      await untilEnded(deployment, workflowOf(2));
      await entities.requests.deliver({ to, event: { type: 'deleteRequested', requestId: 'd' } });
      await eventually(
        async () => (await store.engine.load(to))?.state,
        expect.objectContaining({ phase: 'deleted' }),
      );
      await untilEnded(deployment, workflowOf(2));
      expect(refusals()).toBe(1);
      expect(deployment.idsOf('removeConversation').length).toBe(1);
      const sandbox = { machine: 'sandbox', id: sandboxOf(id) } as const;
      await eventually(
        async () => (await store.engine.load(sandbox))?.state,
        expect.objectContaining({ attached: {} }),
      );
    },
    SLOW_MS,
  );

  it(
    'takes each of many envelopes that come at once, and loses none',
    async () => {
      const deployment = await putAway(3);
      const names = Array.from({ length: 30 }, (_, at) => `m${at}`);
      await Promise.all(
        names.map((name, at) =>
          (at % 2 === 0 ? deployment.entities.requests : deployment.entities.notices).deliver(
            message(3, name),
          ),
        ),
      );
      await eventually(() => new Set(deployment.idsOf('record')).size, names.length);
      await untilEnded(deployment, workflowOf(3));
      await eventually(() => openOf(deployment), 0);
    },
    SLOW_MS,
  );
});
