/**
 * The run that a report compares its own with.
 * Owns which one that is: the newest one of the same job and user that was begun before and has ended.
 */
import { unsuccessfulOf, type RunRow } from '../../core/machine/projection.ts';
import type { LastRun } from '../../report/report-data.ts';
import type { ReportWorld } from './report-world.ts';

/** Null for the first run of its job. */
export async function lastRun(
  { records }: Pick<ReportWorld, 'records'>,
  run: RunRow,
): Promise<LastRun | null> {
  const [last] = (await records.runs())
    .filter((one) => isBefore(one, run))
    .toSorted((a, b) => b.createdAt - a.createdAt);
  if (last?.endedAt == null) return null;
  return {
    runId: last.runId,
    total: last.total,
    succeeded: last.total - unsuccessfulOf(last),
    spentNanoUsd: last.spentNanoUsd,
    durationMs: last.endedAt - last.createdAt,
  };
}

function isBefore(one: RunRow, run: RunRow): boolean {
  return (
    one.runId !== run.runId &&
    one.name === run.name &&
    one.userId === run.userId &&
    one.createdAt < run.createdAt &&
    one.endedAt !== null
  );
}
