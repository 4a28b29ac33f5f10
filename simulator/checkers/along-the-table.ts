/**
 * I15: every transition stands in its machine's table.
 * Owns the one check; the tables are those that the machines run.
 */
import type { MachineName } from '../../core/ids.ts';
import { MACHINE_TABLES } from '../machine-tables.ts';
import type { Moment } from './checker.ts';

interface Phased {
  readonly phase: string;
}

export function alongTheTable({ step }: Moment): string | null {
  const before = step.before as Phased | null;
  const after = step.after as Phased;
  if (before === null) return initialPhaseProblem(step.address.machine, after);
  const cell = MACHINE_TABLES[step.address.machine][before.phase]?.[step.event.type];
  if (cell === undefined)
    return `${step.event.type} changed it in ${before.phase}, where the table has no cell`;
  return cell.to.includes(after.phase)
    ? null
    : `${step.event.type} led from ${before.phase} to ${after.phase}`;
}

/** Where a life begins; a run without items may be past its first phase at once. */
const BORN_AS: Readonly<Partial<Record<MachineName, string>>> = {
  sandbox: 'starting',
  conversation: 'placing',
};

function initialPhaseProblem(machine: MachineName, { phase }: Phased): string | null {
  const expected = BORN_AS[machine] ?? phase;
  return phase === expected ? null : `it began as ${phase}`;
}
