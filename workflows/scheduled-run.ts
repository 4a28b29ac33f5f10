/**
 * One firing of a schedule: a run is begun, and this workflow lasts as long as it, so that a server detects overlaps.
 * Owns the order of the three activities; what they do is on the worker's side, and the run is an entity of its own.
 */
import { CancellationScope, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { RunId } from '../core/ids.ts';
import { queueOf } from './carrier.ts';

/** With what the workflow of a schedule begins. */
export interface ScheduledRunInput {
  /** Task queues of the deployment begin with it. */
  readonly queue: string;
  /** Name of the job, and of its schedule. */
  readonly job: string;
  /** Under which the store has the plan, and the hash that it must have. */
  readonly planId: RunId;
  readonly planHash: string;
}

/** Names one firing: a repeat of an activity means the same one. */
export interface Firing extends Omit<ScheduledRunInput, 'queue'> {
  /** Unique, of hexadecimal digits and hyphens. */
  readonly firing: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What the workflow of a schedule needs of workers. */
export interface ScheduleActivities {
  /** Begins the run and returns its id. */
  beginScheduledRun(firing: Firing): Promise<RunId>;
  /** Fails with the delay until the next poll for as long as the run has not finished. */
  awaitScheduledRun(runId: RunId): Promise<void>;
  cancelScheduledRun(cancellation: { readonly runId: RunId; readonly requestId: string }): Promise<void>;
}

/** A store or a server that is slow. */
const TRY_MAX_MS = 60_000;

export async function scheduledRun({ queue, ...scheduled }: ScheduledRunInput): Promise<RunId> {
  const { runId: firing } = workflowInfo();
  const startToCloseTimeout = TRY_MAX_MS;
  const retry = { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 60_000 };
  const brief = proxyActivities<ScheduleActivities>({
    taskQueue: queueOf(queue, 'bookkeeping'),
    startToCloseTimeout,
    retry,
  });
  const watch = proxyActivities<ScheduleActivities>({
    taskQueue: queueOf(queue, 'watch'),
    startToCloseTimeout,
    retry,
  });
  // A firing that was cancelled before it began still has a run to end, if its activity got so far.
  const runId = await CancellationScope.nonCancellable(() =>
    brief.beginScheduledRun({ ...scheduled, firing, at: Date.now() }),
  );
  try {
    await CancellationScope.cancellable(() => watch.awaitScheduledRun(runId));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(async () => {
      await brief.cancelScheduledRun({ runId, requestId: `cancelled/${firing}` });
      await watch.awaitScheduledRun(runId);
    });
  }
  return runId;
}
