/**
 * What a run remembers of a sandbox that its conversations are in, or that it had made for them.
 * Owns the shape; when it is released is decided in core/run/cleanup.ts.
 */
import type { SandboxId } from '../../ids.ts';

/** A sandbox that conversations of this run used, until it is gone or left to its user. */
export interface UsedSandbox {
  readonly sandboxId: SandboxId;
  readonly state: 'used' | 'asked' | 'gone' | 'kept';
  /** The clean-up that has not been answered; null when none is out. */
  readonly awaiting: string | null;
  /** An agent was at work in it when the run wanted it gone while it went on, and no notice has come since. */
  readonly isBusy?: boolean | undefined;
  /** It is kept, and was ordered to pause because its slot was needed. */
  readonly isResting?: boolean | undefined;
  /** What the run saw of a sandbox of its pool; absent for any other. */
  readonly pooled?: PooledUse | undefined;
}

export interface PooledUse {
  /** When the run first had a notice of it. */
  readonly since: number;
  /** Conversations of the run that were seen to come; 0: it was made ahead, and no notice would report its end. */
  readonly placed: number;
  /** It was found in use when the run wanted it gone, and no conversation has come since. */
  readonly isInUse: boolean;
}
