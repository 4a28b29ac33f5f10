/**
 * A worker process to be killed: fake activities, and a store that other such processes write at the same time.
 * Owns the log of what the fake world did, one line each; must not tidy up behind itself.
 */
import { appendFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { WorkflowClient } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Activity } from '../../../activities/activity.ts';
import type { ActivityCommandType } from '../../../core/machine/command.ts';
import { conversationId, runId, type ConversationId } from '../../../core/ids.ts';
import { systemClock } from '../../../engine/system-clock.ts';
import type { Notifier } from '../../../ports/notifier.ts';
import { RandomStream } from '../../../simulator/random.ts';
import { openStore } from '../../../store/open-store.ts';
import { carrierActivities } from '../../../temporal/carrier.ts';
import { EntityClient } from '../../../temporal/entity-client.ts';
import { tombstones } from '../../../temporal/tombstones.ts';
import { startWorkers } from '../../../temporal/worker.ts';
import { CONVERSATION_SPEC } from '../../core/conversation-life.ts';
import type { Overrides } from '../../engine/fake-activities.ts';
import { installQuietRuntime } from './quiet-runtime.ts';
import { watchingFakes } from './watching-fakes.ts';

export interface WorkerRequest {
  readonly address: string;
  readonly queue: string;
  readonly folder: string;
  readonly bundlePath: string;
}

export const databaseOf = (folder: string): string => path.join(folder, 'parley.db');
export const logOf = (folder: string): string => path.join(folder, 'world.log');
export const conversationOf = (index: number): ConversationId =>
  conversationId(`d${index.toString(16).padStart(31, '0')}`);

/** Longest an activity takes: the process dies in the middle of some. */
const ACTIVITY_MS = 60;
/** A command takes as long on every worker. */
const DELAYS = new RandomStream(0);
const EVENTS_MAX = 2_000;
/** A workflow waits so long for the worker that had it last; by default ten seconds, which is two of the test's lives. */
const STICKY_MS = 2_000;

export async function runWorkerProcess({ address, queue, folder, bundlePath }: WorkerRequest): Promise<void> {
  installQuietRuntime();
  const store = await openStore({ kind: 'sqlite', path: databaseOf(folder) });
  const connection = await NativeConnection.connect({ address });
  const clock = systemClock;
  const client = new WorkflowClient({ connection });
  const stones = tombstones(store.engine, clock);
  const entities = new EntityClient({ client, queue, eventsMax: EVENTS_MAX, tombstones: stones, clock });
  const say = (line: string): void => appendFileSync(logOf(folder), `${line}\n`);
  const { activities } = watchingFakes(clock, worldOf(entities.notices));
  const entries = Object.entries(activities) as unknown as readonly [ActivityCommandType, Activity][];
  const slowed = Object.fromEntries(entries.map(([type, activity]) => [type, slow(activity, say)]));
  const workers = await startWorkers({
    connection,
    namespace: 'default',
    queue,
    bundlePath,
    extra: { stickyQueueScheduleToStartTimeout: STICKY_MS },
    activities: carrierActivities({
      store: store.engine,
      send: (envelope) => entities.send(envelope),
      activities: slowed as unknown as typeof activities,
      clock,
      onError: (command, error) => say(`failed ${command.type} ${error.code} ${error.message}`),
    }),
  });
  writeSync(1, 'up\n');
  await workers.ended;
}

/** `ran TYPE ID SUBJECT` before a try does anything, `did TYPE ID SUBJECT` when it has done it. */
function slow(activity: Activity, say: (line: string) => void): Activity {
  return {
    ...activity,
    run: async (command, context) => {
      const subject =
        'conversationId' in command
          ? command.conversationId
          : 'sandboxId' in command
            ? command.sandboxId
            : '-';
      say(`ran ${command.type} ${command.id} ${subject}`);
      await new Promise((resolve) => setTimeout(resolve, DELAYS.split(command.id).next() * ACTIVITY_MS));
      const event = await activity.run(command, context);
      say(`did ${command.type} ${command.id} ${subject}`);
      return event;
    },
  };
}

/** What a run asks of the world, besides what its conversations and sandboxes do. */
function worldOf(notifier: Notifier): Overrides {
  return {
    startConversation: async ({ id: commandId, index, runId: run, key }) => {
      const id = conversationOf(index);
      const initialMessage = { messageId: `first-${index}`, text: 't', run: true };
      const spec = {
        ...CONVERSATION_SPEC,
        conversationId: id,
        runId: runId(run),
        key,
        itemIndex: index,
        initialMessage,
      };
      const watcher = { machine: 'run', id: runId(run) } as const;
      await notifier.deliver({
        to: { machine: 'conversation', id },
        event: { type: 'started', spec, watcher },
      });
      return { type: 'conversationStarted', commandId, index, conversationId: id };
    },
    collectItem: ({ id: commandId, index }) => ({ type: 'itemCollected', commandId, index, costNanoUsd: 1 }),
    cleanUpSandbox: async ({ id: commandId, sandboxId }) => {
      const event = { type: 'deleteRequested', requestId: commandId } as const;
      await notifier.deliver({ to: { machine: 'sandbox', id: sandboxId }, event });
      return { type: 'sandboxCleanedUp', commandId, sandboxId, isOurs: true };
    },
    reportRun: ({ id: commandId }) => ({ type: 'runReported', commandId }),
  };
}
