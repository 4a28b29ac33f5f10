/**
 * Text of others made harmless to lay out: on one line, without characters that act on what stands around them.
 * Owns the characters; escaping for a format is the format's business.
 */
import { stripVTControlCharacters } from 'node:util';

/** Line ends and controls become spaces; marks that reorder or hide neighbouring text are dropped. */
/** One line of output: its spaces stay, colours and controls go. */
export function plainLine(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/[\u202A-\u202E\u2066-\u2069\u200B\u200E\u200F\uFEFF]/g, '')
    .replaceAll('\t', '  ')
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ')
    .trimEnd();
}

export function oneLine(text: string): string {
  return text
    .replaceAll(/[\u202A-\u202E\u2066-\u2069\u200B\u200E\u200F\uFEFF]/g, '')
    .replaceAll(/[\p{Cc}\u2028\u2029\s]+/gu, ' ')
    .trim();
}
