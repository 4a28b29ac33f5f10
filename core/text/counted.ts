/**
 * A count with its noun.
 * Owns the plural of words that take an s; any other is written out where it stands.
 */

/** `1 error`, `3 errors`. */
export function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
