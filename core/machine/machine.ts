/**
 * The one interface between rules and drivers.
 * Owns the shape of a step; must not know any machine, clock, store or transport.
 */

import { stateInPresentNames } from './former-names.ts';

/** What one event did: the next state and the orders that follow from it, in the order to carry them out. */
export interface Step<State, Command> {
  readonly state: State;
  readonly commands: readonly Command[];
}

/**
 * A long-lived entity as rules.
 * `now` is epoch milliseconds and comes only from the driver. `step` never throws for an event it does not
 * expect: it returns the same state object and no commands, which a driver may treat as silent.
 */
export interface Machine<State, Event, Command> {
  readonly name: string;
  step(state: State, event: Event, now: number): Step<State, Command>;
  /** The earliest instant at which `step` must be called with `{ type: 'deadline' }`; null when nothing is due. */
  deadline(state: State): number | null;
  /** True when the entity has ended for good: nothing queued, nothing in flight, and nothing will be ordered again. */
  done(state: State): boolean;
  /**
   * True when nothing will happen to it without a new request, which is unlikely: a driver may unload it, and loads it
   * again with its state for the next request. Absent: it rests when it is done.
   */
  rests?(state: State): boolean;
  /**
   * The state as it is once the wall clock was set by `byMs` (negative: back), or the machine was suspended so long:
   * what is left of a limit that counts time at work stays what it was, and what goes by the wall clock stays where it
   * is (D36). No step: it orders nothing and shows nothing. A driver calls it on states with a deadline. Absent: there
   * is no such limit.
   */
  clockSet?(state: State, byMs: number): State;
  /** For states with long lists, of which a step changes little; absent: the state is stored whole. */
  readonly parts?: StateParts<State>;
}

/** A state as a store keeps it: its head is written at every change, of a list only the elements that changed. */
export interface SplitState {
  /** Everything but the lists; small, because every commit writes it. */
  readonly head: unknown;
  /** By name. Elements must be values that JSON can write, and none of them `undefined`. */
  readonly lists: Readonly<Record<string, readonly unknown[]>>;
}

/**
 * How states are taken apart and put together again: `join(split(state))` means the same as `state` to every step. A
 * driver finds changes by identity, so an element of a list is never mutated: a change puts another element in its
 * place. What follows from the rest need not be kept; `join` works it out.
 */
export interface StateParts<State> {
  /** Null: this state is stored whole. Called at every commit: it must not visit the elements. */
  split(state: State): SplitState | null;
  /** Of what `split` gave, read back from JSON: also what an older version split, as long as that is in stores. */
  join(split: SplitState): State;
}

/** The state of what a store has of it, whichever build wrote it: the whole, or a head and its lists. */
export function wholeState<State, Event, Command>(
  { name, parts }: Machine<State, Event, Command>,
  stored: { readonly state: unknown; readonly lists?: SplitState['lists'] | undefined },
): State {
  const state = stateInPresentNames(stored.state);
  if (stored.lists === undefined) return state as State;
  if (parts === undefined) throw new Error(`Cannot join a state of the machine "${name}": it has no parts`);
  return parts.join({ head: state, lists: stored.lists });
}

/** No change, no orders: what a late, repeated or unexpected event gets. */
export function stay<State, Command>(state: State): Step<State, Command> {
  return { state, commands: [] };
}
