/**
 * Registers the matchers with vitest, and declares them to the compiler.
 * Owns the declarations; what a matcher does is in matchers.ts. Imported for its effect, once per test file or as a
 * set-up file.
 */
import { expect } from 'vitest';
import type { ExecutionStatus, Outcome, SandboxStatus } from '../core/status.ts';
import { parleyMatchers, type PausedOptions } from './matchers.ts';

export interface ParleyMatchers<Result = unknown> {
  /** The sandbox is PAUSED, for this reason when one is given. */
  toBePaused(options?: PausedOptions): Result;
  /** The sandbox is up, and its Agent Server answered. */
  toBeRunning(): Result;
  /** The sandbox is gone for good. */
  toBeMissing(): Result;
  /** Of the sandbox, as users see it; null: there is none yet. */
  toHaveStatus(status: SandboxStatus | null): Result;
  /** Of an item, its outcome; of a conversation, the status in which its agent came to rest; null: not ended. */
  toHaveOutcome(outcome: Outcome | ExecutionStatus | null): Result;
  /** USD so far, within half a hundredth of a cent. */
  toHaveCost(usd: number): Result;
  toHaveCostAtMost(usd: number): Result;
  toHaveCostAtLeast(usd: number): Result;
}

declare module 'vitest' {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any, @typescript-eslint/no-empty-object-type -- must repeat vitest's own declaration
  interface Matchers<T = any> extends ParleyMatchers<T> {}
}

expect.extend(parleyMatchers);
