/**
 * Every transition that the tables of core/ allow: from phase to another phase, by an event.
 * Owns the list and the names; the tables are those that the machines run.
 */
import type { MachineName } from '../../core/ids.ts';
import { FAULT_CLASSES, type FaultClass } from '../faults/catalogue.ts';
import { SANDBOX_PHASES } from '../../core/sandbox/state.ts';
import { MACHINE_TABLES } from '../machine-tables.ts';

export interface Transition {
  readonly machine: MachineName;
  readonly from: string;
  readonly event: string;
  readonly to: string;
}

const MACHINES: readonly MachineName[] = ['sandbox', 'conversation', 'run', 'shard'];

/** A transition that stands in a table and cannot be taken, or not under a fault of one class. */
export interface Impossible {
  /** As `transitionName` writes it. */
  readonly transition: string;
  /** Null: under no fault whatever. */
  readonly faultClass: FaultClass | null;
  readonly reason: string;
}

/** Reported beside the pairs that were missed, and never left out in silence. */
export const IMPOSSIBLE: readonly Impossible[] = [
  ...[
    'sandbox pausing > missing by runtimeGone',
    'sandbox stopping > missing by runtimeGone',
    'sandbox errorStopping > errorArchiving by runtimeGone',
    'sandbox errorStopping > error by runtimeGone',
    'sandbox errorStopping > errorDestroying by runtimeGone',
  ].map((name) =>
    never(name, 'a stop is the only command out, and a stop of what is gone is answered as done'),
  ),
  ...SANDBOX_PHASES.filter((phase) => phase !== 'missing').map((phase) =>
    never(`sandbox ${phase} > missing by hostLost`, 'hosts are lost in the campaign of hosts alone'),
  ),
];

function never(transition: string, reason: string): Impossible {
  return { transition, faultClass: null, reason };
}

export function transitionName({ machine, from, event, to }: Transition): string {
  return `${machine} ${from} > ${to} by ${event}`;
}

/** Changes of phase only: what stays is counted as a cell. In the order of the tables. */
export const TRANSITIONS: readonly Transition[] = MACHINES.flatMap((machine) =>
  Object.entries(MACHINE_TABLES[machine]).flatMap(([from, row]) =>
    Object.entries(row).flatMap(([event, cell]) =>
      (cell?.to ?? []).filter((to) => to !== from).map((to) => ({ machine, from, event, to })),
    ),
  ),
);

/** Every cell as `machine phase event`. */
export const CELLS: readonly string[] = MACHINES.flatMap((machine) =>
  Object.entries(MACHINE_TABLES[machine]).flatMap(([phase, row]) =>
    Object.keys(row).map((event) => cellName(machine, phase, event)),
  ),
);

export function cellName(machine: MachineName, phase: string, event: string): string {
  return `${machine} ${phase} ${event}`;
}

/** A transition, and the class of fault that struck the entity since its previous one. */
export interface Pair {
  readonly transition: Transition;
  readonly faultClass: FaultClass;
}

/** Every transition with each class of fault that can come before it. */
export const PAIRS: readonly Pair[] = TRANSITIONS.flatMap((transition) =>
  FAULT_CLASSES.filter((faultClass) => !isImpossible(transition, faultClass)).map((faultClass) => ({
    transition,
    faultClass,
  })),
);

export function pairName({ transition, faultClass }: Pair): string {
  return `${transitionName(transition)} | ${faultClass}`;
}

function isImpossible(transition: Transition, faultClass: FaultClass): boolean {
  const name = transitionName(transition);
  return IMPOSSIBLE.some(
    (one) => one.transition === name && (one.faultClass === null || one.faultClass === faultClass),
  );
}
