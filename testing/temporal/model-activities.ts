/**
 * Activities whose answers come from a model, for the product's own carrier.
 * Owns how a try that has to wait ends: a poll comes back, anything else fails for now, at the instant that is next.
 */
import { Context } from '@temporalio/activity';
import type { Activities, ActivityContext } from '../../activities/activity.ts';
import type { ActivityCommand, MachineEvent } from '../../core/machine/command.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { ACTIVITY_COMMAND_TYPES } from '../../core/machine/resource.ts';
import type { HeldTries, Outcome } from './held-tries.ts';

/** A try does not come back before the server has received the last commands of its workflow. */
const AGAIN_MIN_MS = 50;

export interface Pace {
  now(): number;
  /** The instant at which every command is checked again, epoch milliseconds of the same clock. */
  readonly nextAt: number;
}

export function modelActivities(tries: HeldTries, pace: Pace): Activities {
  const waitMs = (): number => Math.max(AGAIN_MIN_MS, pace.nextAt - pace.now());
  const entries = ACTIVITY_COMMAND_TYPES.map((type) => [
    type,
    {
      // Read by the carrier when a try has failed: the wait before the next one is up to the model.
      get retry() {
        return { initialMs: waitMs(), maxMs: waitMs(), attemptsMax: null };
      },
      async run(command: ActivityCommand, { signal }: ActivityContext): Promise<MachineEvent | null> {
        const outcome = await hold(tries, command, signal);
        if (outcome.kind === 'over') return outcome.event;
        throw new ParleyError('agent_unreachable', 'Cannot carry out the command yet: its answer is not due');
      },
      async poll(command: ActivityCommand) {
        const outcome = await hold(tries, command, Context.current().cancellationSignal);
        if (outcome.kind === 'over') return outcome;
        return { kind: 'again', at: pace.now() + waitMs(), memory: null };
      },
      failed: () => null,
    },
  ]);
  return Object.fromEntries(entries) as Activities;
}

function hold(tries: HeldTries, command: ActivityCommand, signal: AbortSignal): Promise<Outcome> {
  const { workflowExecution, activityId, isLocal } = Context.current().info;
  const runId = workflowExecution?.runId ?? '';
  return tries.hold(command, { runId, activityId, batch: isLocal ? activityId : null }, signal);
}
