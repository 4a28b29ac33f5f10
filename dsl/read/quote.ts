/**
 * Words of the file inside a message.
 * Owns how they are quoted and cut; must not be handed the value of a secret, and masks what is one all the same.
 */

import { maskTokens } from '../check/secret-in-clear.ts';

/** Longer values are cut: a message is one line. */
const QUOTED_MAX = 60;

/** The text in double quotes, control characters escaped, at most QUOTED_MAX characters. */
export function quote(text: string): string {
  const points = [...maskTokens(text)];
  const cut = points.length > QUOTED_MAX ? `${points.slice(0, QUOTED_MAX).join('')}…` : points.join('');
  return JSON.stringify(cut).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    escapeCharacter,
  );
}

/** A list in a sentence: `"a", "b" or "c"`. */
export function oneOf(words: readonly string[]): string {
  const quoted = words.map(quote);
  if (quoted.length < 2) return quoted.join('');
  return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
