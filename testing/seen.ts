/**
 * What matchers can ask of a handle.
 * Owns the interface; conversations, sandboxes and runs implement it.
 */
import type { PauseReason, SandboxStatus } from '../core/status.ts';

/** A handle, as matchers see it. */
export interface Seen {
  /** In messages, as in `the sandbox of "first"`. */
  readonly called: string;
  /** Status of the sandbox, as users see it; null while there is none, and for a run. */
  readonly status: SandboxStatus | null;
  readonly pauseReason: PauseReason | null;
  /** What a failed matcher prints below its sentence: when, and the last events. */
  trace(): string;
}

/** What has ended has an outcome, and what works costs. */
export interface SeenWork extends Seen {
  /** USD so far. */
  readonly costUsd: number;
  /** Null before the end. */
  readonly outcome: string | null;
}

/** False: a matcher was handed something else. */
export function isSeen(received: unknown): received is Seen {
  return typeof received === 'object' && received !== null && 'called' in received && 'trace' in received;
}

/** True for what costs money and has an outcome. */
export function isSeenWork(received: unknown): received is SeenWork {
  return isSeen(received) && 'costUsd' in received && 'outcome' in received;
}
