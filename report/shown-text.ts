/**
 * How much of a text of an item a report shows.
 * Owns the bounds; the whole of what is cut is beside the report.
 */
import type { ShownText } from './report-data.ts';

/** Prompt, answer, diff and check of all items together: a page that a browser opens in seconds. */
const ALL_CHARACTERS_MAX = 16_000_000;
const TEXTS_OF_ITEM = 4;
/** More of one text is read in the file. */
const CHARACTERS_MAX = 20_000;
/** Less says nothing. */
const CHARACTERS_MIN = 100;

/** Of each text, in a report on so many items. */
export function charactersShown(items: number): number {
  const share = Math.floor(ALL_CHARACTERS_MAX / (TEXTS_OF_ITEM * Math.max(1, items)));
  return Math.min(CHARACTERS_MAX, Math.max(CHARACTERS_MIN, share));
}

/** The beginning of a text, or its end; secrets are out of it before, because a half of one is no longer found. */
export function shownText(
  text: string,
  charactersMax: number,
  kept: 'beginning' | 'end' = 'beginning',
): ShownText {
  if (text.length <= charactersMax) return { text, cut: 0 };
  const part = kept === 'end' ? text.slice(-charactersMax) : text.slice(0, charactersMax);
  // Half of a pair is no character.
  const whole = part.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
  return { text: whole, cut: text.length - whole.length };
}
