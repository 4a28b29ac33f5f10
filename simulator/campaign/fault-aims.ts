/**
 * The aim of a case at work: while an entity is in the phase that the aim names, a fault of the class strikes at its
 * next opportunity, at the entity itself, at a neighbour, or at everybody.
 * Owns which wishes are open; the injector asks it beside chance.
 */
import { addressKey } from '../../core/ids.ts';
import type { FaultName } from '../faults/catalogue.ts';
import type { Opportunity } from '../faults/injector.ts';
import type { RandomStream } from '../random.ts';
import type { SimulationStep } from '../simulation-options.ts';
import { strikesEverybody } from './everybody.ts';
import type { Neighbours } from './neighbours.ts';
import type { Transition } from './transitions.ts';

/** More would make every entity of the case a victim, and the transition rare. */
const WISHES_MAX = 25;
/** Not every entity that enters the phase is struck. */
const WISH_SHARE = 0.6;

export class FaultAims {
  private readonly open = new Set<string>();
  private made = 0;
  private readonly transition: Transition;
  private readonly kinds: ReadonlySet<FaultName>;
  private readonly neighbours: Neighbours;
  private readonly random: RandomStream;

  constructor(options: {
    readonly transition: Transition;
    readonly kinds: readonly FaultName[];
    readonly neighbours: Neighbours;
    readonly random: RandomStream;
  }) {
    this.transition = options.transition;
    this.kinds = new Set(options.kinds);
    this.neighbours = options.neighbours;
    this.random = options.random;
  }

  /** Called after a step that led into another phase. */
  entered({ address, sequence }: SimulationStep, phase: string): void {
    const key = addressKey(address);
    this.open.delete(key);
    if (address.machine !== this.transition.machine || phase !== this.transition.from) return;
    if (this.made >= WISHES_MAX || !this.random.split(`${key}/${sequence}`).happens(WISH_SHARE)) return;
    this.made += 1;
    this.open.add(key);
  }

  wants(fault: FaultName, { about }: Opportunity): boolean {
    if (this.open.size === 0 || !this.kinds.has(fault)) return false;
    const struck = about === null || strikesEverybody(fault) ? null : addressKey(about);
    for (const key of this.open) {
      if (struck !== null && struck !== key && !this.neighbours.areNext(struck, key)) continue;
      this.open.delete(key);
      return true;
    }
    return false;
  }
}
