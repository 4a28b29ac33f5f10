/**
 * What an activity is: one command carried out against the world.
 * Owns the shape and the retry classes; drivers own when and how often it runs.
 */
import type { ActivityCommandType, CommandOf, MachineEvent } from '../core/machine/command.ts';
import type { ParleyError } from '../core/parley-error.ts';
import type { WatchCommandType } from '../core/machine/resource.ts';
import type { RetryPolicy } from '../core/machine/retry.ts';
import type { Json } from '../ports/engine-store.ts';

/** What an activity knows of the try that it is. */
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
  readonly retry: RetryPolicy;
  run(command: CommandOf<Type>, context: ActivityContext): Promise<MachineEvent | null>;
  /** The answer when it failed for good, or its tries are used up. */
  failed(command: CommandOf<Type>, error: ParleyError): MachineEvent | null;
}

/** What one look of a watch found: its answer, or when to look again and what to remember until then. */
export type PollResult =
  | { readonly kind: 'over'; readonly event: MachineEvent | null }
  | { readonly kind: 'again'; readonly at: number; readonly memory: Json };

/**
 * A watch is its looks: `run` waits between them in one process, a driver may do so by other means.
 * A look keeps nothing but `memory`, so that the next one may happen anywhere.
 */
export interface WatchActivity<Type extends WatchCommandType = WatchCommandType> extends Activity<Type> {
  /** `memory` null: the first look. */
  poll(command: CommandOf<Type>, memory: Json): Promise<PollResult>;
}

type ActivityOf<Type extends ActivityCommandType> = Type extends WatchCommandType
  ? WatchActivity<Type>
  : Activity<Type>;

/** One activity for each type of command. */
export type Activities = { readonly [Type in ActivityCommandType]: ActivityOf<Type> };

/** Asks again for as long as the machine wants it. */
export const PATIENT: RetryPolicy = { initialMs: 500, maxMs: 15_000, attemptsMax: null };
/** The machine itself counts tries. */
export const ONCE: RetryPolicy = { initialMs: 0, maxMs: 0, attemptsMax: 1 };
/** A handful of tries over about a minute. */
export const BRIEF: RetryPolicy = { initialMs: 500, maxMs: 15_000, attemptsMax: 8 };
