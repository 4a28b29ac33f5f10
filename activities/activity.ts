/**
 * What an activity is: one command carried out against the world.
 * Owns the shape and the retry classes; drivers own when and how often it runs.
 */
import type { ActivityCommandType, CommandOf, MachineEvent } from '../core/command.ts';
import type { ParleyError } from '../core/parley-error.ts';

/** Which pool a command waits in: a flood of one kind must not starve the others. */
export type ResourceClass = 'sandbox' | 'agent' | 'bookkeeping' | 'watch';

/** How a retryable error is met; a definite one is answered at once. */
export interface RetryPolicy {
  readonly initialMs: number;
  readonly maxMs: number;
  /** Tries in all; null for until the machine cancels the command (its own deadline bounds it). */
  readonly attemptsMax: number | null;
}

export interface ActivityContext {
  /** Aborted when the machine cancelled the command or the driver stops. */
  readonly signal: AbortSignal;
  /** Tries before this one. */
  readonly attempt: number;
}

/**
 * Carries out commands of one type. At-least-once: `run` is idempotent by `command.id`.
 * An answer of null means the machine does not wait for one.
 */
export interface Activity<Type extends ActivityCommandType = ActivityCommandType> {
  readonly type: Type;
  readonly resource: ResourceClass;
  readonly retry: RetryPolicy;
  run(command: CommandOf<Type>, context: ActivityContext): Promise<MachineEvent | null>;
  /** The answer when it failed for good, or its tries are used up. */
  failed(command: CommandOf<Type>, error: ParleyError): MachineEvent | null;
}

export type Activities = { readonly [Type in ActivityCommandType]: Activity<Type> };

/** Asks again for as long as the machine wants it. */
export const PATIENT: RetryPolicy = { initialMs: 500, maxMs: 15_000, attemptsMax: null };
/** The machine itself counts tries. */
export const ONCE: RetryPolicy = { initialMs: 0, maxMs: 0, attemptsMax: 1 };
/** A handful of tries over about a minute. */
export const BRIEF: RetryPolicy = { initialMs: 500, maxMs: 15_000, attemptsMax: 8 };
