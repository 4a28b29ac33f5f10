/** One entity, one workflow: lives from start to end on a real server, with repeats, late envelopes and an operator's wishes. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ConversationId } from '../../core/ids.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { moveOnSignal, noticeSignal, requestUpdate, type Envelope } from '../../workflows/envelope.ts';
import { conversationAt, message, started } from '../engine/engine-harness.ts';
import { specOf, sandboxOf } from '../engine/fake-activities.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { deploy, type Deployment } from './support/deployment.ts';
import { eventually, SLOW_MS, untilConversation, untilEnded } from './support/eventually.ts';
import { runsOf } from './support/histories.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';

installQuietRuntime();

/** Every entity is continued as new as often as it can be. */
const EVENTS_FEW = 12;
const FINISHED = { startTask: 'READY', executionStatus: 'FINISHED', queuedMessages: 0 } as const;

let server: DevServer;
const workflowOf = (index: number): string => `conversation/${conversationAt(index)}`;
const sandboxAt = (index: number) => sandboxOf(conversationAt(index));
const sandboxWorkflow = (index: number): string => `sandbox/${sandboxAt(index)}`;

async function finish(deployment: Deployment, index: number): Promise<ConversationId> {
  const id = conversationAt(index);
  await deployment.entities.requests.deliver(started(index));
  await untilConversation(deployment, id, FINISHED);
  return id;
}

/** Finished, deleted, and its sandbox with it. */
async function endOf(deployment: Deployment, index: number): Promise<ConversationId> {
  const id = await finish(deployment, index);
  const event = { type: 'deleteRequested', requestId: `delete-${index}` } as const;
  await deployment.entities.requests.deliver({ to: { machine: 'conversation', id }, event });
  await untilEnded(deployment, workflowOf(index));
  await untilEnded(deployment, sandboxWorkflow(index));
  return id;
}

const runCount = async ({ client }: Deployment, workflowId: string): Promise<number> =>
  (await runsOf(client, workflowId)).length;

/** Once nothing is under way that would add to it: rows are visible a moment before the task that wrote them ends. */
async function historyLength({ client }: Deployment, workflowId: string): Promise<number> {
  const handle = client.getHandle(workflowId);
  await eventually(async () => (await handle.describe()).raw.pendingWorkflowTask ?? null, null);
  return (await handle.fetchHistory()).events?.length ?? 0;
}

describeWith('temporal', 'an entity on Temporal', () => {
  beforeAll(async () => {
    server = await startServerForTests();
  }, SLOW_MS);
  afterAll(() => server?.stop(), SLOW_MS);

  it(
    'lives from its start to its end, each command carried out once',
    async () => {
      const deployment = await deploy({ address: server.address });
      const id = await endOf(deployment, 1);
      const ids = deployment.ran.map((one) => one.id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(deployment.ran.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['placeConversation', 'createSandbox', 'deliverItem', 'destroySandbox']),
      );
      expect(deployment.failures).toEqual([]);
      const stored = await deployment.store.engine.load({ machine: 'conversation', id });
      expect(stored).toMatchObject({ done: true, state: { phase: 'deleted' } });
      expect((await deployment.store.records.sandbox(sandboxAt(1)))?.status).toBe('MISSING');
    },
    SLOW_MS,
  );

  it(
    'shows each status of a start as a step of its own, within its budget of history',
    async () => {
      const deployment = await deploy({ address: server.address });
      await finish(deployment, 2);
      const own = await historyLength(deployment, workflowOf(2));
      const all = own + (await historyLength(deployment, sandboxWorkflow(2)));
      expect(own).toBeLessThanOrEqual(60);
      expect(all).toBeLessThanOrEqual(85);
    },
    SLOW_MS,
  );

  it(
    'counts the same envelope once, also after it was continued as new',
    async () => {
      const deployment = await deploy({ address: server.address, eventsMax: EVENTS_FEW });
      const { entities, client } = deployment;
      const id = await finish(deployment, 3);
      for (const repeat of [1, 2]) {
        await entities.requests.deliver(message(3, 'second'));
        await entities.notices.deliver(message(3, 'second'));
        await untilConversation(deployment, id, FINISHED);
        await eventually(() => deployment.idsOf('deliverItem').length, 2);
        // A repeat must meet a run that did not see the envelope itself.
        const before = await runCount(deployment, workflowOf(3));
        await client.getHandle(workflowOf(3)).signal(moveOnSignal);
        await eventually(async () => (await runCount(deployment, workflowOf(3))) > before, true);
        expect(repeat).toBeGreaterThan(0);
      }
      await entities.requests.deliver(started(3));
      await entities.requests.deliver(message(3, 'third'));
      await eventually(() => deployment.idsOf('deliverItem').length, 3);
      expect(deployment.idsOf('placeConversation').length).toBe(1);
    },
    SLOW_MS,
  );

  it(
    'takes each of many requests once while it is continued as new all the time',
    async () => {
      const deployment = await deploy({ address: server.address, eventsMax: EVENTS_FEW });
      const id = await finish(deployment, 4);
      const names = Array.from({ length: 24 }, (_, number) => `m${number}`);
      for (let at = 0; at < names.length; at += 6)
        await Promise.all(
          names.slice(at, at + 6).map((name) => deployment.entities.requests.deliver(message(4, name))),
        );
      const items = (): readonly string[] =>
        deployment.ran.flatMap(({ command }) =>
          command.type === 'deliverItem' ? [command.item.itemId] : [],
        );
      await eventually(() => [...items()].sort(), ['first-4', ...names].sort());
      await untilConversation(deployment, id, FINISHED);
      expect(await runCount(deployment, workflowOf(4))).toBeGreaterThan(1);
    },
    SLOW_MS,
  );

  it(
    'refuses a request that is no event before it reaches the history',
    async () => {
      const deployment = await deploy({ address: server.address });
      await finish(deployment, 5);
      const before = await historyLength(deployment, workflowOf(5));
      const handle = deployment.client.getHandle(workflowOf(5));
      const malformed = [
        null,
        {},
        { id: '', event: { type: 'x' } },
        { id: 'x'.repeat(513), event: { type: 'x' } },
      ];
      for (const envelope of [...malformed, { id: 'a', event: { type: 3 } }, { id: 'a' }])
        await expect(
          handle.executeUpdate(requestUpdate, { args: [envelope as unknown as Envelope] }),
        ).rejects.toThrow('Workflow Update failed');
      expect(await historyLength(deployment, workflowOf(5))).toBe(before);
    },
    SLOW_MS,
  );

  it(
    'takes an operator who cancels its workflow for somebody with a wish',
    async () => {
      const deployment = await deploy({ address: server.address });
      const id = await finish(deployment, 6);
      await deployment.client.getHandle(workflowOf(6)).cancel();
      await untilEnded(deployment, workflowOf(6));
      await untilEnded(deployment, sandboxWorkflow(6));
      const stored = await deployment.store.engine.load({ machine: 'conversation', id });
      expect(stored?.state).toMatchObject({ phase: 'deleted' });
      expect(deployment.idsOf('removeConversation').length).toBe(1);
    },
    SLOW_MS,
  );

  it(
    'deletes a sandbox whose workflow an operator cancels, and tells its conversation, which ends as well',
    async () => {
      const deployment = await deploy({ address: server.address });
      const id = await finish(deployment, 7);
      await deployment.client.getHandle(sandboxWorkflow(7)).cancel();
      await untilConversation(deployment, id, { sandboxStatus: 'MISSING' });
      expect(deployment.idsOf('destroySandbox').length).toBe(1);
      await untilEnded(deployment, sandboxWorkflow(7));
      await untilEnded(deployment, workflowOf(7));
    },
    SLOW_MS,
  );

  it(
    'answers for the deleted from the tombstone, and revives nobody',
    async () => {
      const deployment = await deploy({
        address: server.address,
        activities: {
          // The second conversation is sent to the first one's sandbox, which is gone by then.
          placeConversation: ({ id: commandId, conversationId, excluded }) => {
            const other = excluded.length === 0 ? conversationAt(8) : conversationId;
            const [sandboxId, spec] = [sandboxOf(other), specOf(other)];
            return { type: 'placed', commandId, sandboxId, spec };
          },
        },
      });
      const id = await endOf(deployment, 8);
      const ended = await Promise.all(
        [workflowOf(8), sandboxWorkflow(8)].map((one) => runsOf(deployment.client, one)),
      );
      for (const notifier of [deployment.entities.requests, deployment.entities.notices]) {
        await notifier.deliver(message(8, 'late'));
        await notifier.deliver(started(8));
      }
      await deployment.entities.requests.deliver(started(9));
      await untilConversation(deployment, conversationAt(9), FINISHED);
      const placed = deployment.ran.flatMap(({ command }) =>
        command.type === 'placeConversation' ? [[command.conversationId, command.excluded]] : [],
      );
      expect(placed).toEqual([
        [id, []],
        [conversationAt(9), []],
        [conversationAt(9), [sandboxAt(8)]],
      ]);
      expect((await deployment.store.records.conversation(conversationAt(9)))?.sandboxId).toBe(sandboxAt(9));
      const after = await Promise.all(
        [workflowOf(8), sandboxWorkflow(8)].map((one) => runsOf(deployment.client, one)),
      );
      expect(after).toEqual(ended);
      expect((await deployment.store.engine.load({ machine: 'conversation', id }))?.state).toMatchObject({
        phase: 'deleted',
      });
    },
    SLOW_MS,
  );

  it(
    'hears a signal that no run of the product would send, and goes on',
    async () => {
      const deployment = await deploy({ address: server.address });
      const id = await finish(deployment, 10);
      const handle = deployment.client.getHandle(workflowOf(10));
      const unknown = { id: 'odd', event: { type: 'unheardOf' } } as unknown as Envelope;
      await handle.signal(noticeSignal, unknown);
      await deployment.entities.requests.deliver(message(10, 'after'));
      await eventually(() => deployment.idsOf('deliverItem').length, 2);
      await untilConversation(deployment, id, FINISHED);
    },
    SLOW_MS,
  );
});
