/**
 * What the compiler says about a job file: data, never an exception.
 * Owns the shape of a finding; must not know how it is drawn (print-diagnostics.ts) or why it was made.
 */
import type { Severity } from '../rule.ts';
import type { RuleCode } from './rule-catalogue.ts';

/** Another place that belongs to the finding, e.g. the first of two equal ids. Line and column count from 1. */
interface RelatedPlace {
  readonly message: string;
  /** Absent when it is the file of the finding. */
  readonly file?: string;
  readonly line: number;
  readonly column: number;
}

/** One finding. Lines and columns count from 1, columns in Unicode code points; the end is exclusive. */
export interface Diagnostic {
  readonly code: RuleCode;
  readonly severity: Severity;
  /** One line without a final period; quotes the words of the file, never the value of a secret (D20). */
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** What to write instead; null when the message says it all. */
  readonly remedy: string | null;
  readonly related?: readonly RelatedPlace[];
}
