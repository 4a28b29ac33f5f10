/**
 * One machine lived through by hand: events in, states and orders out, on a clock the test sets.
 * Owns nothing but the bookkeeping; must not know any machine's rules.
 */
import type { Machine } from '../../core/machine/machine.ts';

/** Instant at which every life begins: any number that is not 0 shows a forgotten `now`. */
export const T0 = 1_700_000_000_000;

export class Life<State, Event, Command extends { readonly type: string; readonly id: string }> {
  state: State;
  now = T0;
  /** Orders of the latest step. */
  orders: readonly Command[] = [];
  private readonly machine: Machine<State, Event, Command>;

  constructor(machine: Machine<State, Event, Command>, created: State) {
    this.machine = machine;
    this.state = created;
  }

  /** One event, `afterMs` later than the one before. */
  send(event: Event, afterMs = 1_000): this {
    this.now += afterMs;
    const step = this.machine.step(this.state, event, this.now);
    this.state = step.state;
    this.orders = step.commands;
    return this;
  }

  /** Advances to the machine's own deadline, and sends it. */
  expire(deadline: Event): this {
    const at = this.machine.deadline(this.state);
    if (at === null) throw new Error('Cannot let the deadline pass: there is none');
    return this.send(deadline, at - this.now);
  }

  /** Ids of the latest step's orders of one type. */
  ids(type: Command['type']): readonly string[] {
    return this.orders.filter((order) => order.type === type).map((order) => order.id);
  }

  types(): readonly string[] {
    return this.orders.map((order) => order.type);
  }
}
