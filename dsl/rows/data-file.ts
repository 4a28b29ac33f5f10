/**
 * Where the rows of a conversation come from: a data file, or a list in the job.
 * Owns the shape that the expansion of a conversation reads.
 */
import type { PlanAwaited } from '../../core/plan/plan-awaited.ts';
import type { PlanIssues } from '../../core/plan/plan-issue.ts';
import type { FieldTypes } from '../plan/plan-scope.ts';
import type { AskedIssues } from '../world.ts';
import type { Row, RowProblem } from './row.ts';

export interface DataFile {
  /** The file in which the rows stand, as it is shown; the job itself for a list. */
  readonly file: string;
  /** As a finding calls it: the file, or the key that has the list. */
  readonly spoken: string;
  /** Null when the rows cannot be read, which has its finding. */
  readonly columns: FieldTypes | null;
  /** The stage that writes the rows, while they are not known; absent for rows that are there. */
  readonly awaits?: PlanAwaited;
  /** Issues that were not requested from a code host yet; absent for rows that are there. */
  readonly unasked?: AskedIssues;
  /** What a code host answered, as a plan keeps it; absent for other rows. */
  readonly issues?: PlanIssues;
  /** Reported where it has no row; absent: as of a file. */
  readonly whenEmpty?: { readonly message: string; readonly remedy: string };
  /** From the first row on, each time; a problem ends them. */
  rows(): Iterable<Row | RowProblem>;
}

/** Nothing can be said about rows that cannot be read. */
export function unread(file: string): DataFile {
  return { file, spoken: file, columns: null, rows: () => [] };
}
