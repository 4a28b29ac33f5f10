/**
 * What an activity is: one command carried out against the world.
 * Owns the shape; how often one is tried is in core/machine/resource.ts, and drivers own when it runs.
 */
import type { ActivityCommandType, CommandOf, MachineEvent } from '../core/machine/command.ts';
import type { ParleyError } from '../core/parley-error.ts';
import type { WatchCommandType } from '../core/machine/resource.ts';
import type { RetryPolicy } from '../core/machine/retry.ts';
import type { Json } from '../ports/engine-store.ts';

/** What an activity knows of its current try. */
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
export interface Handler<Type extends ActivityCommandType = ActivityCommandType> {
  run(command: CommandOf<Type>, context: ActivityContext): Promise<MachineEvent | null>;
  /** The answer when the error is final, or no tries are left. */
  failed(command: CommandOf<Type>, error: ParleyError): MachineEvent | null;
}

/** The answer of a command that names to its machine the error that occurred. */
export const refusedAs =
  <Type extends 'stepFailed' | 'placementRefused'>(type: Type) =>
  (
    { id: commandId }: Pick<CommandOf<ActivityCommandType>, 'id'>,
    { code, message: reason }: ParleyError,
  ) => ({ type, commandId, code, reason });

/** What one poll of a watch found: its answer, or when to poll again and what to remember until then. */
export type PollResult =
  | { readonly kind: 'over'; readonly event: MachineEvent | null }
  | { readonly kind: 'again'; readonly at: number; readonly memory: Json };

/**
 * A watch is its polls: `run` waits between them in one process, a driver may do so by other means.
 * A poll keeps nothing but `memory`, so that any worker may carry out the next one.
 */
export interface WatchHandler<Type extends WatchCommandType = WatchCommandType> extends Handler<Type> {
  /** `memory` null: the first poll. */
  poll(command: CommandOf<Type>, memory: Json): Promise<PollResult>;
}

type HandlerOf<Type extends ActivityCommandType> = Type extends WatchCommandType
  ? WatchHandler<Type>
  : Handler<Type>;

interface Tried {
  readonly retry: RetryPolicy;
}

/** What a driver carries a command out with: how, and how often it is tried. */
export type Activity<Type extends ActivityCommandType = ActivityCommandType> = Handler<Type> & Tried;

/** The same for a command that waits for something to happen. */
export type WatchActivity<Type extends WatchCommandType = WatchCommandType> = WatchHandler<Type> & Tried;

/** How each type of command is carried out. */
export type Handlers = { readonly [Type in ActivityCommandType]: HandlerOf<Type> };
/** One activity for each type of command. */
export type Activities = { readonly [Type in ActivityCommandType]: HandlerOf<Type> & Tried };
