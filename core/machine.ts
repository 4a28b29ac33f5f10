/**
 * The one interface between rules and drivers.
 * Owns the shape of a step; must not know any machine, clock, store or transport.
 */

/** What one event did: the next state and the orders that follow from it, in the order to hand them out. */
export interface Step<State, Command> {
  readonly state: State;
  readonly commands: readonly Command[];
}

/**
 * A long-lived thing as rules.
 * `now` is epoch milliseconds and comes only from the driver. `step` never throws for an event it does not
 * expect: it returns the same state object and no commands, which a driver may treat as silent.
 */
export interface Machine<State, Event, Command> {
  readonly name: string;
  step(state: State, event: Event, now: number): Step<State, Command>;
  /** The earliest instant at which `step` must be called with `{ type: 'deadline' }`; null when nothing is due. */
  deadline(state: State): number | null;
  /** True when the entity has ended for good: nothing queued, nothing in flight. */
  done(state: State): boolean;
}

/** No change, no orders: what a late, repeated or unexpected event gets. */
export function stay<State, Command>(state: State): Step<State, Command> {
  return { state, commands: [] };
}
