/**
 * What a store knows of a run, before it becomes a recording: instants in epoch milliseconds, and sums.
 * Owns the shape; must not measure anything.
 */
import type { ExecutionStatus, Outcome } from '../../core/status.ts';

/** One attempt as a store has it; epoch milliseconds. */
export interface AttemptFacts {
  readonly key: string;
  readonly createdAt: number;
  readonly startFailed: boolean;
  readonly executionStatus: ExecutionStatus | null;
  /** Instant of that status. */
  readonly restedAt: number | null;
  /** First event of the transcript, and the first message of a user in it. */
  readonly firstEventAt: number | null;
  readonly firstMessageAt: number | null;
  readonly sandbox: {
    readonly id: string;
    readonly createdAt: number;
    readonly generation: number;
    /** Length and end of its last stop; null before one. */
    readonly stopMs: number | null;
    readonly stoppedAt: number | null;
  } | null;
  /** Sums over its priced calls; null when there is none. */
  readonly spend: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly costNanoUsd: number | null;
  } | null;
}

export interface ItemFacts {
  readonly key: string;
  readonly attempts: number;
  readonly hasCheck: boolean;
  readonly outcome: Outcome | null;
  /** Of all attempts together. */
  readonly costNanoUsd: number | null;
  readonly admittedAt: number | null;
  readonly endedAt: number | null;
}

/** A run as its store knows it. */
export interface RunFacts {
  readonly job: string;
  readonly planHash: string;
  readonly items: readonly ItemFacts[];
  /** In any order. */
  readonly attempts: readonly AttemptFacts[];
}
