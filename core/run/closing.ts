/**
 * The last steps of a run, after its report: the notifications that the job wants.
 * Owns their order, their time, and the end itself; a step changes no outcome, however it goes.
 */
import type { RunEvent } from './message.ts';
import type { RunContext } from './run-context.ts';
import { closeShards } from './shard-directives.ts';

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

/** Codes of the lifecycle events that show readers how a step went. */
export const LAST_STEP_DONE = 'finally_done';

/** Code of a run whose `finally` failed. */
export const LAST_STEP_FAILED = 'finally_failed';

/** One step after the other, each with a command of its own: its id separates a repeat from another message. */
export function beginClosing(context: RunContext): void {
  takeStep(context, 0);
}

function takeStep(context: RunContext, step: number): void {
  const { state } = context;
  const rule = state.rules.finally?.[step];
  if (rule === undefined) return finish(context);
  state.phase = 'closing';
  state.closing = { step, by: context.now + rule.timeoutMs };
  state.awaiting = context.order({ type: 'notifyOfRun', runId: state.runId, step });
}

function finish(context: RunContext): void {
  const { state } = context;
  state.closing = undefined;
  state.awaiting = null;
  state.phase = 'finished';
  state.endedAt = context.now;
  closeShards(context);
}

export function notified(context: RunContext, event: EventOf<'runNotified'>): void {
  if (context.state.awaiting !== event.commandId) return;
  stepEnded(context, LAST_STEP_DONE, event.isSent ? 'sent' : 'not wanted of a run that ended so');
}

export function notifyUnsuccessful(context: RunContext, event: EventOf<'notifyFailed'>): void {
  if (context.state.awaiting === event.commandId) stepEnded(context, LAST_STEP_FAILED, event.reason);
}

/** No wait for a receiver lasts for ever: what it did not take in its time is recorded, and the run goes on. */
export function closingExpired(context: RunContext): void {
  const { closing, awaiting } = context.state;
  if (closing === undefined || context.now < closing.by) return;
  if (awaiting !== null) context.order({ type: 'cancelCommand', commandId: awaiting });
  stepEnded(context, LAST_STEP_FAILED, 'nobody took it within its time');
}

function stepEnded(context: RunContext, code: string, how: string): void {
  const step = context.state.closing?.step ?? 0;
  const about = { machine: 'run', id: context.state.runId } as const;
  const detail = `notify ${step + 1}: ${how}`;
  context.order({ type: 'record', event: { about, conversationId: null, code, detail } });
  takeStep(context, step + 1);
}
