/**
 * Texts of a job with words in braces.
 * Owns how a word is filled in; must not know which words there are.
 */

/** In one pass: what is filled in is never read again, and braces around anything else stay. */
export function fillWords(template: string, words: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{([a-z_]+)\}/g, (whole, word: string) =>
    Object.hasOwn(words, word) ? (words[word] ?? whole) : whole,
  );
}
