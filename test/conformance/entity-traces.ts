/**
 * What two drivers are compared by: for every entity its steps in order, and nothing across entities.
 * Owns the form: instant to the millisecond, event type, the whole view and state after it, the orders in order. Ids
 * need no normalising because every id in a script is made of names, and the machines count the rest.
 */
import type { Command, MachineEvent } from '../../core/machine/command.ts';
import { addressKey, type EntityAddress } from '../../core/ids.ts';
import { orderName } from '../../simulator/trace.ts';
import { viewOf, type View } from '../../simulator/view.ts';
import { START_AT } from '../../simulator/script.ts';

export interface TracedStep {
  readonly atMs: number;
  readonly event: string;
  readonly view: View;
  readonly orders: readonly string[];
  /** The machine's whole state: what no view shows must be equal as well. */
  readonly state: string;
}

export class EntityTraces {
  readonly byEntity = new Map<string, TracedStep[]>();
  count = 0;
  private readonly startAt: number;

  /** `startAt`: the instant at which the script began, epoch milliseconds. */
  constructor(startAt: number = START_AT) {
    this.startAt = startAt;
  }

  /** Steps that changed neither the view nor ordered anything are left out. */
  add(step: {
    readonly at: number;
    readonly address: EntityAddress;
    readonly event: MachineEvent;
    readonly after: unknown;
    readonly commands: readonly Command[];
  }): void {
    const { at, address, event, after, commands } = step;
    const key = addressKey(address);
    const trace = this.byEntity.get(key) ?? [];
    this.byEntity.set(key, trace);
    const view = viewOf(address.machine, after);
    trace.push({
      atMs: at - this.startAt,
      event: event.type,
      view,
      orders: commands.map(orderName),
      state: JSON.stringify(after),
    });
    this.count += 1;
  }
}
