/**
 * One row of a data file.
 * Owns the shape and the bounds of what is read.
 */
import type { PlanIssue } from '../../core/plan/plan-issue.ts';
import type { FieldValue } from '../plan/plan-scope.ts';
import type { Span } from '../read/text-position.ts';

export interface Row {
  /** Counts from 1, without the header. */
  readonly number: number;
  /** Line of the file on which it starts, from 1. */
  readonly line: number;
  readonly fields: Readonly<Record<string, FieldValue>>;
  /** Where each row is a file of its own. */
  readonly file?: string;
  /** Where each row is an issue. */
  readonly issue?: PlanIssue;
  /** Numbers that would be spelled otherwise, as 3.10, by their path: `version`, `tags[0].size`. */
  readonly written?: ReadonlyMap<string, string>;
}

/** A row that cannot be read; nothing behind it is. */
export interface RowProblem {
  readonly line: number;
  readonly message: string;
  readonly remedy: string | null;
  /** In the job, where the row is a file that cannot be read. */
  readonly span?: Span;
}

/** A longer row is a document, and holds up everything behind it. */
export const ROW_CHARS_MAX = 1024 * 1024;
export const COLUMNS_MAX = 200;
/** More are read only to be thrown away: a plan holds 100,000. */
export const ROWS_READ_MAX = 1_000_000;
