/**
 * A text as one word of a POSIX shell.
 * Owns the quoting and nothing else; must not know what runs the command.
 */

/** One argument, whatever the text contains: quotes, blanks and line ends stay as they are. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
