/** A workflow that is reset to an earlier point stands still, until the store forgets what the history does not know. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Store } from '../../store/open-store.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { conversationAt, message, newStore, started } from '../engine/engine-harness.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { deploy, type Deployment } from './support/deployment.ts';
import { eventually, SLOW_MS, untilConversation } from './support/eventually.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';

installQuietRuntime();

const FINISHED = { startTask: 'READY', executionStatus: 'FINISHED', queuedMessages: 0 } as const;
const WORKFLOW_ID = `conversation/${conversationAt(1)}`;

let server: DevServer;

/** A store that counts how often a batch was refused as past. */
async function watchedStore(): Promise<{ readonly store: Store; readonly told: { overtaken: number } }> {
  const store = await newStore();
  const told = { overtaken: 0 };
  const { commitJournaled } = store.engine;
  const engine: Store['engine'] = {
    ...store.engine,
    async commitJournaled(entry, batch) {
      const verdict = await commitJournaled(entry, batch);
      if (verdict.kind === 'overtaken') told.overtaken += 1;
      return verdict;
    },
  };
  return { store: { ...store, engine }, told };
}

/** To where its first task ended. */
async function resetToBegin({ client }: Deployment): Promise<void> {
  const { runId } = await client.getHandle(WORKFLOW_ID).describe();
  const { events } = await client.getHandle(WORKFLOW_ID).fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes != null);
  await client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: WORKFLOW_ID, runId },
    workflowTaskFinishEventId: first?.eventId ?? null,
    requestId: randomUUID(),
    reason: 'set back by a test',
  });
}

describeWith('temporal', 'a workflow that was reset', () => {
  beforeAll(async () => {
    server = await startServerForTests();
  }, SLOW_MS);
  afterAll(() => server?.stop(), SLOW_MS);

  it(
    'stands still until the store forgets its batches, and goes on then',
    async () => {
      const { store, told } = await watchedStore();
      const deployment = await deploy({ address: server.address, store });
      const { entities } = deployment;
      await entities.requests.deliver(started(1));
      await untilConversation(deployment, conversationAt(1), FINISHED);
      await entities.requests.deliver(message(1, 'before'));
      await eventually(() => deployment.idsOf('deliverItem').length, 2);
      await untilConversation(deployment, conversationAt(1), FINISHED);
      expect(told.overtaken).toBe(0);

      await resetToBegin(deployment);
      await eventually(() => told.overtaken, 1);
      const handle = deployment.client.getHandle(WORKFLOW_ID);
      // Nothing is under way but a timer, so its history grows no further by itself.
      await eventually(async () => (await handle.describe()).raw.pendingWorkflowTask ?? null, null);
      const { events } = await handle.fetchHistory();
      expect(events?.at(-1)?.timerStartedEventAttributes).toBeDefined();
      expect(told.overtaken).toBe(1);
      const entity = { machine: 'conversation', id: conversationAt(1) } as const;
      expect((await store.journal.forget(entity)).entries).toBeGreaterThan(0);
      const ranBefore = deployment.ran.length;

      await entities.notices.deliver(message(1, 'after'));
      await eventually(() => new Set(deployment.idsOf('deliverItem')).size, 3);
      await untilConversation(deployment, conversationAt(1), FINISHED);
      expect(deployment.ran.length).toBeGreaterThan(ranBefore);
    },
    3 * SLOW_MS,
  );
});
