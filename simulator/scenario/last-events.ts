/**
 * The last steps of every entity, so that a failed expectation can show what led to it.
 * Owns how many are kept and how one is put into words; must not influence a play.
 */
import { addressKey, type EntityAddress } from '../../core/ids.ts';
import type { SimulationStep } from '../simulation-options.ts';
import { changedView, viewOf, type View } from '../view.ts';

/** As many as a person reads under one failure. */
const KEPT = 5;

/** One step that changed or ordered something. */
export interface PastEvent {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Position among all steps, from 1. */
  readonly sequence: number;
  /** Machine and id, as in a trace. */
  readonly entity: string;
  readonly event: string;
  /** What of the public view changed by it, with its new value. */
  readonly changes: View;
}

/** The last steps of each entity, for the words of a failure. */
export class LastEvents {
  /** Entity of the last step; null before the first. */
  latest: EntityAddress | null = null;
  private readonly steps = new Map<string, SimulationStep[]>();

  add(step: SimulationStep): void {
    this.latest = step.address;
    const key = addressKey(step.address);
    const known = this.steps.get(key);
    if (known === undefined) this.steps.set(key, [step]);
    else if (known.push(step) > KEPT) known.shift();
  }

  /** Of all these entities together, oldest first. */
  of(entities: readonly EntityAddress[]): readonly PastEvent[] {
    const steps = entities.flatMap((address) => this.steps.get(addressKey(address)) ?? []);
    steps.sort((a, b) => a.sequence - b.sequence);
    return steps.slice(-KEPT).map(pastEvent);
  }
}

function pastEvent({ at, sequence, address, event, before, after }: SimulationStep): PastEvent {
  const changed = changedView(viewOf(address.machine, before), viewOf(address.machine, after));
  // What begins has everything anew; what it has not says nothing.
  const told =
    before === null ? Object.entries(changed).filter(([, value]) => value !== null && value !== false) : null;
  const changes = told === null ? changed : Object.fromEntries(told);
  return { at, sequence, entity: addressKey(address), event: event.type, changes };
}
