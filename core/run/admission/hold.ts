/**
 * A batch that holds: nothing new begins until somebody resumes it.
 * Owns this one change of mode; must not know why.
 */
import type { RunTurn } from '../turn.ts';

/** What is in flight goes on. */
export function hold(turn: RunTurn, reason: string): void {
  turn.state.mode = 'paused';
  turn.state.reason = reason;
}
