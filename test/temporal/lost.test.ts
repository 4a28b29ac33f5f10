/** Workflows ended by hand: answers and records say so, what they held is freed; what a server does not know stays. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addressOfCommand, conversationId, runId, userId } from '../../core/ids.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { CONVERSATION_SPEC } from '../core/conversation-life.ts';
import { ITEM, RULES } from '../core/run-life.ts';
import { conversationAt, message, started } from '../engine/engine-harness.ts';
import { sandboxOf } from '../engine/fake-activities.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { deploy, type Deployment } from './support/deployment.ts';
import { eventually, SLOW_MS, untilConversation, untilEnded } from './support/eventually.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';
import { RUN_ENDS } from './support/run-ends.ts';

installQuietRuntime();

const FINISHED = { startTask: 'READY', executionStatus: 'FINISHED', queuedMessages: 0 } as const;
const LOST = {
  startTask: 'ERROR',
  startTaskDetail: 'workflow_lost: its workflow was ended from outside',
} as const;
const workflowOf = (index: number): string => `conversation/${conversationAt(index)}`;
const conversationTo = (index: number) => ({ machine: 'conversation', id: conversationAt(index) }) as const;

let server: DevServer;

async function finished(deployment: Deployment, index: number): Promise<void> {
  await deployment.entities.requests.deliver(started(index));
  await untilConversation(deployment, conversationAt(index), FINISHED);
}

const terminate = ({ client }: Deployment, workflowId: string): Promise<unknown> =>
  client.getHandle(workflowId).terminate('by hand');

/** Visibility follows in its own time. */
const untilSwept = (deployment: Deployment, workflowId: string): Promise<void> =>
  eventually(async () => (await deployment.lost.sweep()).includes(workflowId), true);

describeWith('temporal', 'a workflow that was ended by hand', () => {
  beforeAll(async () => {
    server = await startServerForTests();
  }, SLOW_MS);
  afterAll(() => server?.stop(), SLOW_MS);

  it(
    'of a conversation: a message is refused, its record says so, and it can be deleted',
    async () => {
      const deployment = await deploy({ address: server.address });
      await finished(deployment, 1);
      await terminate(deployment, workflowOf(1));
      await expect(deployment.entities.requests.deliver(message(1, 'late'))).rejects.toMatchObject({
        code: 'workflow_lost',
      });
      await untilConversation(deployment, conversationAt(1), LOST);
      expect(deployment.idsOf('deliverItem').length).toBe(1);
      await deployment.entities.requests.deliver({
        to: conversationTo(1),
        event: { type: 'deleteRequested', requestId: 'd' },
      });
      await untilEnded(deployment, workflowOf(1));
      await untilEnded(deployment, `sandbox/${sandboxOf(conversationAt(1))}`);
      expect(deployment.idsOf('removeConversation').length).toBe(1);
    },
    SLOW_MS,
  );

  it(
    'of a sandbox: it is swept, stopped, archived and removed, its conversation is told, and no sweep does it twice',
    async () => {
      const deployment = await deploy({ address: server.address });
      await finished(deployment, 2);
      const id = sandboxOf(conversationAt(2));
      await terminate(deployment, `sandbox/${id}`);
      await untilSwept(deployment, `sandbox/${id}`);
      await untilConversation(deployment, conversationAt(2), { sandboxStatus: 'MISSING' });
      await untilEnded(deployment, `sandbox/${id}`);
      await untilEnded(deployment, workflowOf(2));
      expect(await deployment.store.records.sandbox(id)).toMatchObject({
        status: 'MISSING',
        holdsSlot: false,
      });
      for (const type of ['stopSandbox', 'archiveWorkspace', 'destroySandbox'] as const)
        expect(deployment.idsOf(type).length, type).toBe(1);
      expect(await deployment.lost.sweep()).not.toContain(`sandbox/${id}`);
    },
    SLOW_MS,
  );

  it(
    'of a sandbox that is asked before any sweep: who asks is told',
    async () => {
      const deployment = await deploy({ address: server.address });
      await finished(deployment, 3);
      const to = { machine: 'sandbox', id: sandboxOf(conversationAt(3)) } as const;
      await terminate(deployment, `sandbox/${to.id}`);
      const event = { type: 'pauseRequested', requestId: 'p', reason: 'user' } as const;
      await expect(deployment.entities.requests.deliver({ to, event })).rejects.toMatchObject({
        code: 'workflow_lost',
      });
      await untilConversation(deployment, conversationAt(3), { sandboxStatus: 'MISSING' });
    },
    SLOW_MS,
  );

  it(
    'of an item: its run is told, and tries again',
    async () => {
      const run = runId('lost-item');
      const idOf = (attempt: number) => conversationId(`e${attempt}`.padStart(32, '0'));
      const late: { entities: Deployment['entities'] | null } = { entities: null };
      const deployment = await deploy({
        address: server.address,
        activities: {
          startConversation: async ({ id: commandId, index, key, attempt }) => {
            const id = idOf(attempt);
            const initialMessage = { messageId: `first-${attempt}`, text: 't', run: true };
            const own = { conversationId: id, runId: run, key, itemIndex: index, initialMessage };
            const spec = { ...CONVERSATION_SPEC, ...own };
            const event = { type: 'started', spec, watcher: addressOfCommand(commandId) } as const;
            await late.entities?.notices.deliver({ to: { machine: 'conversation', id }, event });
            return { type: 'conversationStarted', commandId, index, conversationId: id };
          },
          ...RUN_ENDS,
        },
        polls: {
          watchAgent: ({ conversationId: id, id: commandId, generation }) =>
            id === idOf(1)
              ? { kind: 'again', at: Date.now() + 60_000, memory: null }
              : {
                  kind: 'over',
                  event: {
                    type: 'agentReported',
                    commandId,
                    report: {
                      ...{ status: 'FINISHED', pausedReason: null, at: Date.now(), generation },
                      ...{ limitReached: null, retryAt: null, detail: null },
                    },
                  },
                },
        },
      });
      late.entities = deployment.entities;
      const retry = [
        { on: ['infra', 'agent_error'], attempts: 1, initialMs: 10, factor: 1, maxMs: 10 },
      ] as const;
      const rules = {
        ...RULES,
        settleMs: null,
        retry,
        cleanup: { ...RULES.cleanup, sandbox: 'keep' },
      } as const;
      const spec = { runId: run, userId: userId('u'), name: 'n', planHash: 'h', rules, items: [ITEM] };
      await deployment.entities.requests.deliver({
        to: { machine: 'run', id: run },
        event: { type: 'runStarted', spec },
      });
      await untilConversation(deployment, idOf(1), { executionStatus: 'RUNNING' });
      await terminate(deployment, `conversation/${idOf(1)}`);
      await untilSwept(deployment, `conversation/${idOf(1)}`);
      await eventually(async () => (await deployment.store.records.run(run))?.phase, 'finished');
      expect(await deployment.store.records.runItem(run, ITEM.key)).toMatchObject({
        outcome: 'succeeded',
        attempt: 2,
      });
    },
    SLOW_MS,
  );

  it(
    'is told from one that a server does not know: what has a record there is left alone',
    async () => {
      const deployment = await deploy({ address: server.address });
      await finished(deployment, 4);
      const row = await deployment.store.records.sandbox(sandboxOf(conversationAt(4)));
      if (row === null) throw new Error('the sandbox has no record');
      const other = { ...row, sandboxId: sandboxOf(conversationAt(5)) };
      await deployment.store.records.project([other]);
      const to = { machine: 'sandbox', id: other.sandboxId } as const;
      const pause = { type: 'pauseRequested', requestId: 'p', reason: 'user' } as const;
      await expect(deployment.entities.requests.deliver({ to, event: pause })).rejects.toMatchObject({
        code: 'workflow_lost',
      });
      await deployment.entities.requests.deliver({ to, event: { type: 'deleteRequested', requestId: 'd' } });
      await deployment.entities.notices.deliver({ to, event: pause });
      expect(await deployment.store.records.sandbox(other.sandboxId)).toEqual(other);
      expect(deployment.idsOf('stopSandbox')).toEqual([]);
    },
    SLOW_MS,
  );
});
