/**
 * What is kept beside an item's results, as reports read it: findings, numbers, what was pushed, the last steps.
 * Owns the shapes; the files and how they come about are not known here.
 */

/** What a result lacks. */
export interface Finding {
  /** `secret`: withheld, because it holds the value of one (D20). `left_out`: it could not be kept. */
  readonly code: 'secret' | 'left_out';
  /** The result it is about, such as `changes.patch` or `files/notes.md`; empty: several. */
  readonly result: string;
  readonly says: string;
}

/** One finding as a line. */
export function findingWords({ result, says }: Finding): string {
  return result === '' ? says : `${result}: ${says}`;
}

/** A number that a command of the job said about an item. */
export interface Score {
  readonly name: string;
  /** Null when the command said none. */
  readonly value: number | null;
  readonly at_least?: number | undefined;
  readonly at_most?: number | undefined;
  /** Why it is not good enough, or not there; null when it is good. */
  readonly problem: string | null;
}

/** How the delivery of an item's branch stands; `pushing` was written before a push whose end nobody has written down. */
export type DeliveryState = 'pushing' | 'pushed' | 'nothing' | 'failed';

/** A step after the end of a run. */
export interface LastStep {
  /** From 0, in the order of the job. */
  readonly step: number;
  /** Of the order: of the same step, another one belongs to an earlier end of the run. */
  readonly id: string;
  readonly state: 'sent' | 'not_wanted' | 'failed';
  /** Of the last try; null when it went well. */
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** Epoch milliseconds. */
  readonly at: number;
}
