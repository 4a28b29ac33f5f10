/**
 * Reports after every activation what a workflow has under way, so that a play knows when everything is settled.
 * Owns the counting, inside the workflow's sandbox; must not change what passes through.
 */
import { condition, proxySinks, sleep, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import type { LongCommand } from '../../../workflows/carrier.ts';
import { noticeSignal, type Envelope } from '../../../workflows/envelope.ts';
import type { ObserverSinks } from './observer-sinks.ts';

/** Called by the SDK for every run of a workflow. */
export function interceptors(): WorkflowInterceptors {
  const { observer } = proxySinks<ObserverSinks>();
  if (workflowInfo().workflowType === 'warmUp') return {};
  let signals = 0;
  let isLeaving = false;
  const locals = new Set<number>();
  const longs = new Map<number, string>();
  const timers = new Map<number, number>();
  return {
    inbound: [
      {
        handleSignal(input, next) {
          signals += 1;
          if (!isLeaving || input.signalName !== noticeSignal.name) return next(input);
          // The loop reads no signal any more, which it never has to where a run ends at once.
          observer.late(input.args[0] as Envelope);
          return Promise.resolve();
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
          // This server does not forget what is under way when a run ends: its clock would stand still for ever.
          isLeaving = true;
          await sleep(1);
          await condition(() => longs.size === 0);
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
            end: endOf(output.commands) ?? (isLeaving ? 'leaving' : 'open'),
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
): 'continued' | 'over' | null {
  if (commands.some((one) => one.continueAsNewWorkflowExecution != null)) return 'continued';
  return commands.some((one) => (one.completeWorkflowExecution ?? one.failWorkflowExecution) != null)
    ? 'over'
    : null;
}
