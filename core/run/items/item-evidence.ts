/**
 * What is kept beside an item's results, as reports read it: findings, numbers, what was pushed, the last steps.
 * Owns the shapes; must not know the files and how they are made.
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

/** A number that a command of the job printed about an item. */
export interface Score {
  readonly name: string;
  /** Null when the command printed none. */
  readonly value: number | null;
  readonly at_least?: number | undefined;
  readonly at_most?: number | undefined;
  /** Why it is not good enough, or not there; null when it is good. */
  readonly problem: string | null;
}

/** The delivery of an item's branch; `pushing` is written before a push and stays when its end was not recorded. */
export type DeliveryState = 'pushing' | 'pushed' | 'nothing' | 'failed';

/** A step after the end of a run. */
export interface LastStep {
  /** From 0, in the order of the job. */
  readonly step: number;
  /** Id of the order: another one for the same step belongs to an earlier end of the run. */
  readonly id: string;
  readonly state: 'sent' | 'not_wanted' | 'failed';
  /** Of the last try; null when it went well. */
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** Epoch milliseconds. */
  readonly at: number;
}
