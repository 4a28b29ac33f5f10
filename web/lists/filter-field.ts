/**
 * Fields that narrow a list, as data, and what they come to.
 * Owns their kinds and how a day becomes an instant; how a field is drawn is the bar's.
 */
import { labelOf } from '../text/words.ts';

export type FilterField<Name extends string> = {
  readonly name: Name;
  readonly label: string;
} & (
  | { readonly kind: 'text' }
  /** A day of the reader's zone. */
  | { readonly kind: 'day' }
  | { readonly kind: 'choice'; readonly choices: Choices }
);

type Choices = readonly (readonly [value: string, label: string])[];

export function choice<Name extends string>(name: Name, label: string, choices: Choices): FilterField<Name> {
  return { name, label, kind: 'choice', choices };
}

/** Words of the API as choices, behind one for all of them. */
export function wordChoices(all: string, words: readonly string[]): Choices {
  return [['', all], ...words.map((word) => [word, labelOf(word)] as const)];
}

/** Where a day of the reader's zone begins, as an instant; null for a text that is no day. */
export function beginOf(day: string, daysLater = 0): string | null {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day);
  if (found === null) return null;
  const at = new Date(Number(found[1]), Number(found[2]) - 1, Number(found[3]) + daysLater);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
