/**
 * What a run has reached: kinds of faults, transitions, cells, and pairs of a transition and a class of fault.
 * Owns the counting. A pair counts when an entity takes the transition after a fault of that class struck it, or a
 * neighbour, or everybody, since its previous transition.
 */
import { addressKey } from '../../core/ids.ts';
import { FAULT_CLASSES, FAULTS, type FaultClass, type FaultName } from '../faults/catalogue.ts';
import type { Injected } from '../faults/injector.ts';
import type { SimulationStep } from '../simulation-options.ts';
import { phaseOf } from '../view.ts';
import type { Neighbours } from './neighbours.ts';
import { cellName, pairName, transitionName, type Transition } from './transitions.ts';

/**
 * Faults that show at one entity and strike all of them: the worker, the store, the daemon or the gateway as a whole.
 * Aims count such a fault for everybody, too.
 */
const OF_EVERYBODY: ReadonlySet<FaultName> = new Set<FaultName>([
  'runtime_unreachable',
  'runtime_daemon_restart',
  'runtime_events_cut',
  'runtime_disk_full',
  'runtime_quota_refused',
  'gateway_rate_limited',
  'gateway_unavailable',
  'store_restart',
  'store_full',
  'worker_crash_before_commit',
  'worker_crash_after_commit',
  'worker_crash_in_activity',
  'worker_rolling_upgrade',
]);

export function strikesEverybody(fault: FaultName): boolean {
  return OF_EVERYBODY.has(fault);
}

/** Hits by name. */
export type Counts = Readonly<Record<string, number>>;

export interface Coverage {
  readonly faults: Counts;
  readonly transitions: Counts;
  readonly cells: Counts;
  readonly pairs: Counts;
}

/** By class, the number of the fault that struck last. */
type LastStrikes = Partial<Record<FaultClass, number>>;

export class CoverageCounter {
  private readonly counts = {
    faults: new Counter(),
    transitions: new Counter(),
    cells: new Counter(),
    pairs: new Counter(),
  };
  private readonly neighbours: Neighbours;
  private struck = 0;
  private readonly everybody: LastStrikes = {};
  private readonly strikes = new Map<string, LastStrikes>();
  /** How many faults had struck when an entity entered its phase. */
  private readonly enteredAt = new Map<string, number>();

  constructor(neighbours: Neighbours) {
    this.neighbours = neighbours;
  }

  get coverage(): Coverage {
    const { faults, transitions, cells, pairs } = this.counts;
    return { faults: faults.all, transitions: transitions.all, cells: cells.all, pairs: pairs.all };
  }

  injected({ fault, entity }: Injected): void {
    this.counts.faults.add(fault);
    this.struck += 1;
    const faultClass = FAULTS[fault].class;
    if (entity === null || strikesEverybody(fault)) this.everybody[faultClass] = this.struck;
    else for (const one of [entity, ...this.neighbours.of(entity)]) this.strike(one, faultClass);
  }

  sees({ address, event, before, after }: SimulationStep): void {
    const key = addressKey(address);
    const [from, to] = [phaseOf(before), phaseOf(after)];
    if (from !== null) this.counts.cells.add(cellName(address.machine, from, event.type));
    if (from === to || to === null) return;
    if (from !== null) this.take(key, { machine: address.machine, from, event: event.type, to });
    this.enteredAt.set(key, this.struck);
  }

  private take(key: string, transition: Transition): void {
    this.counts.transitions.add(transitionName(transition));
    const since = this.enteredAt.get(key) ?? 0;
    for (const faultClass of FAULT_CLASSES) {
      const last = Math.max(this.everybody[faultClass] ?? 0, this.strikes.get(key)?.[faultClass] ?? 0);
      if (last > since) this.counts.pairs.add(pairName({ transition, faultClass }));
    }
  }

  private strike(entity: string, faultClass: FaultClass): void {
    const strikes = this.strikes.get(entity) ?? {};
    this.strikes.set(entity, strikes);
    strikes[faultClass] = this.struck;
  }
}

class Counter {
  readonly all: Record<string, number> = {};

  add(name: string): void {
    this.all[name] = (this.all[name] ?? 0) + 1;
  }
}
