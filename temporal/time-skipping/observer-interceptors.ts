/**
 * Tells after every activation what a workflow has under way, so that a play knows when everything is settled.
 * Owns the counting, inside the workflow's sandbox; must not change what passes through.
 */
import { proxySinks, sleep, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import type { LongCommand } from '../../workflows/carrier.ts';
import type { Note, ObserverSinks } from './observer-sinks.ts';

/** Called by the SDK for every run of a workflow. */
export function interceptors(): WorkflowInterceptors {
  const { observer } = proxySinks<ObserverSinks>();
  if (workflowInfo().workflowType === 'warmUp') return {};
  let signals = 0;
  const locals = new Set<number>();
  const longs = new Map<number, string>();
  const timers = new Map<number, number>();
  return {
    inbound: [
      {
        handleSignal(input, next) {
          signals += 1;
          return next(input);
        },
      },
    ],
    outbound: [
      {
        startTimer(input, next) {
          timers.set(input.seq, Date.now() + input.durationMs);
          return whenOver(next(input), () => timers.delete(input.seq));
        },
        scheduleActivity(input, next) {
          longs.set(input.seq, (input.args[0] as LongCommand).command.id);
          return whenOver(next(input), () => longs.delete(input.seq));
        },
        async continueAsNew(input, next) {
          // A task of its own: this server does not forget what is handed out in the task that ends a run.
          await sleep(1);
          return next(input);
        },
        scheduleLocalActivity(input, next) {
          locals.add(input.seq);
          return whenOver(next(input), () => locals.delete(input.seq));
        },
      },
    ],
    internals: [
      {
        concludeActivation(input, next) {
          const output = next(input);
          observer.note({
            signals,
            locals: locals.size,
            longs: [...longs.values()],
            timers: [...timers.values()],
            end: endOf(output.commands),
          });
          return output;
        },
      },
    ],
  };
}

function whenOver<Value>(promise: Promise<Value>, run: () => void): Promise<Value> {
  promise.then(run, run);
  return promise;
}

function endOf(
  commands: readonly {
    readonly continueAsNewWorkflowExecution?: unknown;
    readonly completeWorkflowExecution?: unknown;
    readonly failWorkflowExecution?: unknown;
  }[],
): Note['end'] {
  if (commands.some((one) => one.continueAsNewWorkflowExecution != null)) return 'continued';
  return commands.some((one) => (one.completeWorkflowExecution ?? one.failWorkflowExecution) != null)
    ? 'over'
    : 'open';
}
