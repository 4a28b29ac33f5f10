/**
 * What a test can expect of conversations, sandboxes and items, as matchers of vitest and runners like it.
 * Owns the judgement and its sentence; below it stand the virtual time and the last events.
 */
import type { ExecutionStatus, Outcome, PauseReason, SandboxStatus } from '../core/status.ts';
import { isSeen, isSeenWork, type Seen, type SeenWork } from './seen.ts';

/** What vitest requires of a matcher. */
export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/** Narrows what counts as paused. */
export interface PausedOptions {
  /** Any reason by default. */
  readonly reason?: PauseReason;
}

/** To be passed to `expect.extend`; `parley/testing/vitest` does that. */
export const parleyMatchers = {
  /** The sandbox is PAUSED, for this reason when one is given. */
  toBePaused(received: unknown, { reason }: PausedOptions = {}): MatcherResult {
    const seen = seenOf(received, 'toBePaused');
    const pass = seen.status === 'PAUSED' && (reason === undefined || seen.pauseReason === reason);
    return verdict(seen, pass, reason === undefined ? 'to be PAUSED' : `to be PAUSED (${reason})`);
  },

  toBeRunning(received: unknown): MatcherResult {
    return hasStatus(seenOf(received, 'toBeRunning'), 'RUNNING');
  },

  /** The sandbox is gone for good. */
  toBeMissing(received: unknown): MatcherResult {
    return hasStatus(seenOf(received, 'toBeMissing'), 'MISSING');
  },

  /** Of the sandbox, as users see it; null: there is none yet. */
  toHaveStatus(received: unknown, status: SandboxStatus | null): MatcherResult {
    return hasStatus(seenOf(received, 'toHaveStatus'), status);
  },

  /** Of an item, its outcome; of a conversation, the status in which its agent came to rest; null: not ended. */
  toHaveOutcome(received: unknown, outcome: Outcome | ExecutionStatus | null): MatcherResult {
    const seen = seenWorkOf(received, 'toHaveOutcome');
    const { called, outcome: actual } = seen;
    const is = `its outcome is ${actual ?? 'not there yet'}`;
    return sentence(seen, actual === outcome, [`${called} to have the outcome ${outcome ?? 'none'}`, is]);
  },

  /** USD so far, within half a hundredth of a cent. */
  toHaveCost(received: unknown, usd: number): MatcherResult {
    const seen = seenWorkOf(received, 'toHaveCost');
    return costs(seen, Math.abs(seen.costUsd - usd) < COST_PRECISION_USD, `to cost $${usd}`);
  },

  toHaveCostAtMost(received: unknown, usd: number): MatcherResult {
    const seen = seenWorkOf(received, 'toHaveCostAtMost');
    return costs(seen, seen.costUsd <= usd, `to cost at most $${usd}`);
  },

  toHaveCostAtLeast(received: unknown, usd: number): MatcherResult {
    const seen = seenWorkOf(received, 'toHaveCostAtLeast');
    return costs(seen, seen.costUsd >= usd, `to cost at least $${usd}`);
  },
} as const;

/** Finer than any amount that tests write. */
const COST_PRECISION_USD = 0.00005;

function hasStatus(seen: Seen, status: SandboxStatus | null): MatcherResult {
  return verdict(seen, seen.status === status, `to be ${status ?? 'without a sandbox'}`);
}

function costs(seen: SeenWork, pass: boolean, expected: string): MatcherResult {
  return sentence(seen, pass, [`${seen.called} ${expected}`, `it cost $${seen.costUsd}`]);
}

function verdict(seen: Seen, pass: boolean, expected: string): MatcherResult {
  const { status, pauseReason } = seen;
  const reason = pauseReason === null ? '' : ` (${pauseReason})`;
  return sentence(seen, pass, [
    `${seen.called} ${expected}`,
    `it is ${status ?? 'without a sandbox'}${reason}`,
  ]);
}

/** The message is wanted when `expect` failed: with `not`, that is when it passed. */
function sentence(
  seen: Seen,
  pass: boolean,
  [expected, actual]: readonly [expected: string, actual: string],
): MatcherResult {
  return {
    pass,
    message: () => `expected ${pass ? 'not: ' : ''}${expected}; ${actual}\n${seen.trace()}`,
  };
}

function seenOf(received: unknown, matcher: string): Seen {
  if (isSeen(received)) return received;
  throw new TypeError(
    `Cannot use ${matcher}(): what was handed in is no conversation, sandbox or item of a world`,
  );
}

function seenWorkOf(received: unknown, matcher: string): SeenWork {
  if (isSeenWork(received)) return received;
  throw new TypeError(`Cannot use ${matcher}(): what was handed in is no conversation or item of a world`);
}
