/**
 * A run that was on its way to its end goes back to work, because items of it wait again.
 * Owns what of the way to the end is taken back, and which items were passed over for others; the caller decides which
 * items wait.
 */
import { warmPoolAgain } from './admission/pool.ts';
import type { RunItem } from './state.ts';
import type { RunContext } from './run-context.ts';

/** What an item that waits again forgets: it has all its tries. */
export const WAITS_AGAIN = {
  phase: 'waiting',
  failures: {},
  hostsLost: undefined,
  notBefore: null,
  endedAt: null,
} as const;

/** It ended without an attempt because of others, and is decided again when those are. */
export function wasPassedOver(item: RunItem | undefined): boolean {
  if (item?.phase !== 'ended' || item.isReplaced === true) return false;
  const outcome = item.ending?.outcome;
  return outcome === 'skipped' || outcome === 'not_needed';
}

export function backToWork(context: RunContext): void {
  const { state } = context;
  if (state.phase === 'running') return;
  if (state.awaiting !== null) context.order({ type: 'cancelCommand', commandId: state.awaiting });
  state.awaiting = null;
  state.settleAt = null;
  state.cleanBy = null;
  state.closing = undefined;
  state.endedAt = null;
  state.phase = 'running';
  warmPoolAgain(context);
}
