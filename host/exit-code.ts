/**
 * What the exit code of a command says.
 * Owns the table and the rules that choose from it; must not print or exit.
 */
import type { ErrorCode } from '../core/error-catalogue.ts';
import type { Plan } from '../core/plan/plan.ts';
import { unsuccessfulOf, type RunRow } from '../core/machine/projection.ts';

/** What a command ends with; docs/cli.md lists them. */
export const EXIT = {
  ok: 0,
  /** The run finished with more failures than are tolerated, or a check of a file has findings. */
  failed: 1,
  /** What was typed or configured cannot be carried out; nothing was started. */
  usage: 2,
  /** The run rests and can be resumed. */
  incomplete: 3,
  unauthorized: 4,
  unreachable: 5,
  outsideTolerance: 7,
  /** An expectation of a scenario did not hold. */
  expectationFailed: 8,
  internal: 70,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code of a command that ended with this error. */
export function exitCodeOfError(code: ErrorCode): ExitCode {
  switch (code) {
    case 'internal':
      return EXIT.internal;
    case 'unauthorized':
    case 'forbidden':
      return EXIT.unauthorized;
    case 'store_unavailable':
    case 'data_directory_locked':
    case 'runtime_unreachable':
    case 'agent_unreachable':
    case 'export_unavailable':
    case 'engine_unreachable':
    case 'disk_full':
    case 'disk_failed':
    case 'out_of_resources':
      return EXIT.unreachable;
    case 'collect_failed':
      return EXIT.failed;
    default:
      return EXIT.usage;
  }
}

/**
 * The exit code of a run as it stands: failures come before money, because they matter more to the user.
 * `plan` null means that nothing is known of what it tolerates: nothing.
 */
export function exitCodeOfRun(row: RunRow, plan: Pick<Plan, 'tolerate' | 'reconcile'> | null): ExitCode {
  if (row.phase !== 'finished') return EXIT.incomplete;
  if (unsuccessfulOf(row) > (plan?.tolerate.failed ?? 0)) return EXIT.failed;
  return isWithinTolerance(row, plan) ? EXIT.ok : EXIT.outsideTolerance;
}

/** A bound that could not be checked, because there is no reconciliation, is not kept. */
function isWithinTolerance(row: RunRow, plan: Pick<Plan, 'reconcile'> | null): boolean {
  if (row.reconciliation !== null) return row.reconciliation.withinTolerance !== false;
  const { unmatchedNanoUsdMax = null, unbilledMax } = plan?.reconcile ?? {};
  return unmatchedNanoUsdMax === null && unbilledMax === undefined;
}
