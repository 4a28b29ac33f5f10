/**
 * Lives of every workflow kind, played on a server to record their histories.
 * Owns the scenes: between them every status, a continued run and a deletion are in a history; must not assert.
 */
import { ApplicationFailure } from '@temporalio/activity';
import { addressOfCommand, runId, userId } from '../../../core/ids.ts';
import type { CommandOf, MachineEvent } from '../../../core/machine/command.ts';
import { ParleyError } from '../../../core/parley-error.ts';
import { runsOf } from './histories.ts';
import { moveOnSignal } from '../../../workflows/envelope.ts';
import type { ScheduledRunInput, ScheduleActivities } from '../../../workflows/scheduled-run.ts';
import { ITEM, RULES } from '../../core/run-life.ts';
import { conversationAt, message, started } from '../../engine/engine-harness.ts';
import { specOf, sandboxOf } from '../../engine/fake-activities.ts';
import { CONVERSATION_SPEC } from '../../core/conversation-life.ts';
import { deploy, type Deployment, type DeploymentOptions } from './deployment.ts';
import { eventually, untilConversation, untilEnded } from './eventually.ts';
import { RUN_ENDS } from './run-ends.ts';

const FINISHED = { startTask: 'READY', executionStatus: 'FINISHED', queuedMessages: 0 } as const;
export const RUN = runId('r1');
const LARGE_RUN = runId('r2');
const DELETION_MS = 1_500;
const FINISHED_JOB = 'nightly';
/** Its run goes on until it is cancelled. */
const CANCELLED_JOB = 'weekly';
const POLL_EVERY_MS = 50;

/** Ids of the workflows whose histories are worth keeping, by the name of the scene. */
export async function playLives(
  options: Pick<DeploymentOptions, 'address' | 'dataConverter'>,
): Promise<{ readonly deployment: Deployment; readonly workflows: Readonly<Record<string, string>> }> {
  let tries = 0;
  let entities: Deployment['entities'] | null = null;
  const firings = new Firings();
  const deployment = await deploy({
    ...options,
    scheduled: firings.activities,
    activities: {
      placeConversation: ({ id: commandId, conversationId: id }) => {
        const limits = {
          idleTimeMs: 1_200_000,
          deletionTimeMs: id === conversationAt(2) ? DELETION_MS : 864_000_000,
        };
        return { type: 'placed', commandId, sandboxId: sandboxOf(id), spec: { ...specOf(id), limits } };
      },
      startConversation: async (command) => {
        const { conversationId, delivery } = startOf(command);
        await entities?.notices.deliver(delivery);
        const { id: commandId, index } = command;
        return { type: 'conversationStarted', commandId, index, conversationId };
      },
      prepareRepository: ({ id: commandId, conversationId: id }): MachineEvent => {
        if (id !== conversationAt(11)) return { type: 'repositoryPrepared', commandId };
        tries += 1;
        throw new ParleyError(
          tries === 1 ? 'agent_unreachable' : 'repository_failed',
          'Cannot clone: refused',
        );
      },
      ...RUN_ENDS,
      cleanUpSandbox: async ({ id: commandId, sandboxId }) => {
        const event = { type: 'deleteRequested', requestId: commandId } as const;
        await entities?.notices.deliver({ to: { machine: 'sandbox', id: sandboxId }, event });
        return { type: 'sandboxCleanedUp', commandId, sandboxId, isOurs: true };
      },
    },
  });
  entities = deployment.entities;
  await Promise.all([
    resumedAndDeleted(deployment),
    expired(deployment),
    batch(deployment),
    largeBatch(deployment),
    scheduled(deployment, firings),
  ]);
  return {
    deployment,
    workflows: {
      'conversation-resumed-and-deleted': `conversation/${conversationAt(1)}`,
      'sandbox-paused-resumed-and-deleted': `sandbox/${sandboxOf(conversationAt(1))}`,
      'sandbox-expired-after-pause': `sandbox/${sandboxOf(conversationAt(2))}`,
      'conversation-read-only': `conversation/${conversationAt(2)}`,
      'run-with-a-retry': `run/${RUN}`,
      'run-of-shards': `run/${LARGE_RUN}`,
      'shard-of-one-item': `shard/${LARGE_RUN}.0`,
      'conversation-of-a-run-that-failed': `conversation/${conversationAt(11)}`,
      'scheduled-run-finished': `scheduled/${FINISHED_JOB}`,
      'scheduled-run-cancelled': `scheduled/${CANCELLED_JOB}`,
    },
  };
}

/** What the start of an item brings to life, under an id of its own for each run, item and attempt. */
function startOf({ id: commandId, runId: run, index, key, attempt }: CommandOf<'startConversation'>) {
  const id = conversationAt((run === RUN ? 10 : 50) * (index + 1) + attempt);
  const initialMessage = { messageId: `first-${id}`, text: 't', run: true };
  const spec = {
    ...CONVERSATION_SPEC,
    conversationId: id,
    runId: run,
    key,
    itemIndex: index,
    initialMessage,
  };
  const watcher = addressOfCommand(commandId);
  const event = { type: 'started', spec, watcher } as const;
  return { conversationId: id, delivery: { to: { machine: 'conversation', id }, event } as const };
}

async function pause({ entities }: Deployment, index: number): Promise<void> {
  const to = { machine: 'sandbox', id: sandboxOf(conversationAt(index)) } as const;
  await entities.requests.deliver({
    to,
    event: { type: 'pauseRequested', requestId: `p${index}`, reason: 'user' },
  });
}

async function resumedAndDeleted(deployment: Deployment): Promise<void> {
  const { entities, client } = deployment;
  const id = conversationAt(1);
  await entities.requests.deliver(started(1));
  await untilConversation(deployment, id, FINISHED);
  await pause(deployment, 1);
  await untilConversation(deployment, id, { sandboxStatus: 'PAUSED' });
  for (const workflow of [`conversation/${id}`, `sandbox/${sandboxOf(id)}`]) {
    await client.getHandle(workflow).signal(moveOnSignal);
    // A request in the same task would make another history of it, by chance.
    await eventually(async () => (await runsOf(client, workflow)).length, 2);
  }
  await entities.requests.deliver(message(1, 'second'));
  await eventually(() => deployment.idsOf('resumeSandbox').length, 1);
  await untilConversation(deployment, id, { ...FINISHED, sandboxStatus: 'RUNNING' });
  const event = { type: 'deleteRequested', requestId: 'd' } as const;
  await entities.requests.deliver({ to: { machine: 'conversation', id }, event });
  await untilEnded(deployment, `conversation/${id}`);
  await untilEnded(deployment, `sandbox/${sandboxOf(id)}`);
}

async function expired(deployment: Deployment): Promise<void> {
  const id = conversationAt(2);
  await deployment.entities.requests.deliver(started(2));
  await untilConversation(deployment, id, FINISHED);
  await pause(deployment, 2);
  await untilConversation(deployment, id, { sandboxStatus: 'MISSING' });
}

async function batch(deployment: Deployment): Promise<void> {
  const retry = [{ on: ['infra'], attempts: 1, initialMs: 10, factor: 1, maxMs: 10 }] as const;
  const rules = { ...RULES, concurrency: 2, settleMs: 50, retry };
  const items = [0, 1].map((index) => ({ ...ITEM, key: `k${index}` }));
  const spec = { runId: RUN, userId: userId('u'), name: 'n', planHash: 'h', rules, items };
  await deployment.entities.requests.deliver({
    to: { machine: 'run', id: RUN },
    event: { type: 'runStarted', spec },
  });
  await eventually(async () => (await deployment.store.records.run(RUN))?.phase, 'finished');
}

/** As if two items were too many for one workflow. */
async function largeBatch(deployment: Deployment): Promise<void> {
  const rules = { ...RULES, concurrency: 2, settleMs: null, shardItems: 1 };
  const items = [0, 1].map((index) => ({ ...ITEM, key: `k${index}` }));
  const spec = { runId: LARGE_RUN, userId: userId('u'), name: 'n', planHash: 'h', rules, items };
  await deployment.entities.requests.deliver({
    to: { machine: 'run', id: LARGE_RUN },
    event: { type: 'runStarted', spec },
  });
  await eventually(async () => (await deployment.store.records.run(LARGE_RUN))?.phase, 'finished');
}

/** Runs of schedules: one has finished at its second poll, the other one goes on until it is cancelled. */
class Firings {
  /** At the one that goes on. */
  polls = 0;
  private hasLooked = false;
  private isCancelled = false;
  readonly activities: ScheduleActivities = {
    beginScheduledRun: ({ job }) => Promise.resolve(runId(`${job}-1`)),
    awaitScheduledRun: (id) => {
      const goesOn = id.startsWith(CANCELLED_JOB) ? !this.isCancelled : !this.hasLooked;
      if (id.startsWith(CANCELLED_JOB)) this.polls += 1;
      else this.hasLooked = true;
      if (!goesOn) return Promise.resolve();
      const message = `the run ${id} has not finished yet`;
      throw ApplicationFailure.create({ type: 'poll', message, nextRetryDelay: POLL_EVERY_MS });
    },
    cancelScheduledRun: () => {
      this.isCancelled = true;
      return Promise.resolve();
    },
  };
}

/** As a schedule starts it. */
async function begin({ client, queue }: Deployment, job: string): Promise<void> {
  const args: [ScheduledRunInput] = [{ queue, job, planId: RUN, planHash: 'h' }];
  await client.start('scheduledRun', { workflowId: `scheduled/${job}`, taskQueue: queue, args });
}

async function scheduled(deployment: Deployment, firings: Firings): Promise<void> {
  await Promise.all([FINISHED_JOB, CANCELLED_JOB].map((job) => begin(deployment, job)));
  await eventually(() => firings.polls > 2, true);
  await deployment.client.getHandle(`scheduled/${CANCELLED_JOB}`).cancel();
  for (const job of [FINISHED_JOB, CANCELLED_JOB]) await untilEnded(deployment, `scheduled/${job}`);
}
