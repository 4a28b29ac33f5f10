/**
 * A batch that holds: nothing new begins until a client resumes it.
 * Owns this one change of mode; must not know why.
 */
import type { RunContext } from '../run-context.ts';

/** What is in flight goes on. */
export function hold(context: RunContext, reason: string): void {
  context.state.mode = 'paused';
  context.state.reason = reason;
}
