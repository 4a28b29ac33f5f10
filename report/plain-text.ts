/**
 * Text of others made harmless to lay out: on one line, without characters that act on what stands around them.
 * Owns the characters; escaping for a format is the format's business.
 */
import { stripVTControlCharacters } from 'node:util';

/** Direction marks, and what takes no room. */
const MARKS = /[\u061C\u202A-\u202E\u2060-\u2069\u200B\u200E\u200F\uFEFF]/g;

/** One line of output: its spaces stay, colours and controls go. */
export function plainLine(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(MARKS, '')
    .replaceAll('\t', '  ')
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ')
    .trimEnd();
}

/** Line ends and controls become spaces, colours go; marks that reorder or hide neighbouring text are dropped. */
export function oneLine(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(MARKS, '')
    .replaceAll(/[\p{Cc}\u2028\u2029\s]+/gu, ' ')
    .trim();
}

/** Lines as they were written, each for itself; a carriage return alone is a line end for who reads it. */
export function plainLines(text: string): readonly string[] {
  return text.split(/\r\n|[\n\r]/).map(plainLine);
}
