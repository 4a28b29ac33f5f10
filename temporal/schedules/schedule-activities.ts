/**
 * What workers do for a firing of a schedule: begin its run as `parley run` would, wait for it, cancel it.
 * Owns that a repeat is the same run; the plan comes from the store, by reference and hash.
 */
import { ApplicationFailure } from '@temporalio/activity';
import type { RunId, UserId } from '../../core/ids.ts';
import { runSpec, runSetting } from '../../core/run/run-spec.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { PlanStore, RecordStore } from '../../ports/record-store.ts';
import type { ScheduleActivities } from '../../workflows/scheduled-run.ts';

export interface ScheduleActivitiesOptions {
  readonly plans: PlanStore;
  readonly records: Pick<RecordStore, 'run'>;
  readonly notices: Notifier;
  /** What its runs take over when they begin. */
  readonly deployment: Parameters<typeof runSetting>[0];
  /** Owner of the runs. */
  readonly userId: UserId;
  /** The id of a run of a job, made of its name, the instant and digits that make it unique. */
  readonly newRunId: (name: string, of: { readonly now: number; readonly random: string }) => RunId;
}

/** Only its schedule waits for the end of a run, and it fires by the minute at most. */
const POLL_EVERY_MS = 5_000;
/** Digits of the firing's id that make the id of its run unique. */
const UNIQUE_DIGITS = 8;

/** The activities of a scheduled run. */
export function scheduleActivities(options: ScheduleActivitiesOptions): ScheduleActivities {
  const { plans, records, notices, userId, newRunId } = options;
  return {
    async beginScheduledRun({ job, planId, planHash, firing, at }) {
      const plan = await plans.plan(planId);
      if (plan?.hash !== planHash)
        throw ApplicationFailure.nonRetryable(
          `Cannot begin a run of "${job}": the store has ${plan === null ? 'no plan' : 'another plan'} under "${planId}"`,
          'plan_invalid',
        );
      const runId = newRunId(job, { now: at, random: firing.slice(0, UNIQUE_DIGITS) });
      await plans.putPlan(runId, plan);
      const to = { machine: 'run', id: runId } as const;
      const spec = runSpec(plan, { runId, userId, setting: runSetting(options.deployment) });
      await notices.deliver({ to, event: { type: 'runStarted', spec } });
      return runId;
    },
    async awaitScheduledRun(runId) {
      const row = await records.run(runId);
      if (row?.phase === 'finished') return;
      throw ApplicationFailure.create({
        type: 'poll',
        message: `the run ${runId} has not finished yet`,
        nonRetryable: false,
        nextRetryDelay: POLL_EVERY_MS,
      });
    },
    async cancelScheduledRun({ runId, requestId }) {
      const to = { machine: 'run', id: runId } as const;
      await notices.deliver({ to, event: { type: 'cancelRequested', requestId } });
    },
  };
}
