/**
 * What a run remembers of a sandbox that its conversations are in, or that it had made for them.
 * Owns the shape; when it is let go is decided in core/run/cleanup.ts.
 */
import type { SandboxId } from '../../ids.ts';

/** A sandbox that conversations of this run used, until it is gone or left to its user. */
export interface UsedSandbox {
  readonly sandboxId: SandboxId;
  readonly state: 'used' | 'asked' | 'gone' | 'kept';
  /** The clean-up that has not been answered; null when none is out. */
  readonly awaiting: string | null;
  /** Somebody had come when the run wanted it gone while it went on, and nothing was heard of it since. */
  readonly isBusy?: boolean | undefined;
  /** It is kept, and was asked to rest because its slot was needed. */
  readonly isResting?: boolean | undefined;
  /** What the run saw of a sandbox of its pool; absent for any other. */
  readonly pooled?: PooledUse | undefined;
}

export interface PooledUse {
  /** When the run first heard of it. */
  readonly since: number;
  /** Conversations of the run that were seen to come; 0: it was made ahead, and nobody would tell that it is gone. */
  readonly placed: number;
  /** It was found in use when the run wanted it gone, and nobody has come since. */
  readonly isInUse: boolean;
}
