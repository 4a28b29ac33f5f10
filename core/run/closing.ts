/**
 * The last steps of a run, after its report: whom the job wants told that it has ended.
 * Owns their order, their time, and the end itself; a step changes no outcome, however it goes.
 */
import type { RunEvent } from './message.ts';
import type { RunTurn } from './turn.ts';
import { closeShards } from './shard-directives.ts';

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

/** Codes of the lifecycle events by which readers learn how a step went. */
export const LAST_STEP_DONE = 'finally_done';
export const LAST_STEP_FAILED = 'finally_failed';

/** One step after the other, each with a command of its own: its id is what tells a repeat from another message. */
export function beginClosing(turn: RunTurn): void {
  takeStep(turn, 0);
}

function takeStep(turn: RunTurn, step: number): void {
  const { state } = turn;
  const rule = state.rules.finally?.[step];
  if (rule === undefined) return finish(turn);
  state.phase = 'closing';
  state.closing = { step, by: turn.now + rule.timeoutMs };
  state.awaiting = turn.order({ type: 'notifyOfRun', runId: state.runId, step });
}

function finish(turn: RunTurn): void {
  const { state } = turn;
  state.closing = undefined;
  state.awaiting = null;
  state.phase = 'finished';
  state.endedAt = turn.now;
  closeShards(turn);
}

export function notified(turn: RunTurn, event: EventOf<'runNotified'>): void {
  if (turn.state.awaiting !== event.commandId) return;
  stepEnded(turn, LAST_STEP_DONE, event.isSent ? 'sent' : 'not wanted of a run that ended so');
}

export function notifyUnsuccessful(turn: RunTurn, event: EventOf<'notifyFailed'>): void {
  if (turn.state.awaiting === event.commandId) stepEnded(turn, LAST_STEP_FAILED, event.reason);
}

/** Nobody waits for a receiver for ever: what it did not take in its time is recorded, and the run goes on. */
export function closingExpired(turn: RunTurn): void {
  const { closing, awaiting } = turn.state;
  if (closing === undefined || turn.now < closing.by) return;
  if (awaiting !== null) turn.order({ type: 'cancelCommand', commandId: awaiting });
  stepEnded(turn, LAST_STEP_FAILED, 'nobody took it within its time');
}

function stepEnded(turn: RunTurn, code: string, how: string): void {
  const step = turn.state.closing?.step ?? 0;
  const about = { machine: 'run', id: turn.state.runId } as const;
  const detail = `notify ${step + 1}: ${how}`;
  turn.order({ type: 'record', event: { about, conversationId: null, code, detail } });
  takeStep(turn, step + 1);
}
