/**
 * The source line under a message, with a caret.
 * Owns widths, cutting and masking; must not word anything.
 */
import type { Diagnostic } from '../check/diagnostic.ts';
import { maskTokens } from '../check/secret-in-clear.ts';
import { indexLines } from './text-position.ts';

/** Longer lines are cut around the caret. */
const WIDTH_MAX = 110;
/** A line of this length was not written by a person, and is not worth counting through. */
const LINE_MAX = 100_000;
const MASKED_CODE = 'JOB218';
/** Findings about a file that is no text, or has none to show. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set(['JOB102', 'JOB103', 'JOB104', 'JOB105']);

/** A place in the text; without a code it is not one of a diagnostic. */
type ExcerptPlace = Pick<Diagnostic, 'line' | 'column' | 'endLine' | 'endColumn'> &
  Partial<Pick<Diagnostic, 'code'>>;

/** Draws lines of one text. `all` are the findings of the file: what one of them masks is masked under all of them. */
export interface Excerpts {
  /** Two lines, number and text, then the caret; empty when the line has no text. */
  draw(place: ExcerptPlace): string[];
}

/** Draws findings of `text`; `all` says what is masked in every line. */
export function createExcerpts(text: string, all: readonly Diagnostic[]): Excerpts {
  const lines = indexLines(text);
  const masks = all.filter((diagnostic) => diagnostic.code === MASKED_CODE);
  return {
    draw(diagnostic) {
      if (WITHOUT_TEXT.has(diagnostic.code ?? '')) return [];
      if (lines.lineText(diagnostic.line).length > LINE_MAX) return [];
      const characters = [...maskTokens(lines.lineText(diagnostic.line))].map(printable);
      if (characters.length === 0 && diagnostic.column === 1) return [];
      mask(characters, diagnostic.line, masks);
      const start = diagnostic.column - 1;
      const end = caretEnd(diagnostic, characters);
      const from = start > WIDTH_MAX - 20 ? start - 20 : 0;
      const shown = characters.slice(from, from + WIDTH_MAX);
      const number = String(diagnostic.line).padStart(5);
      const before = shown.slice(0, start - from);
      const under = characters.slice(start, Math.min(end, from + WIDTH_MAX));
      const cutLeft = from > 0 ? '…' : '';
      const cutRight = from + WIDTH_MAX < characters.length ? '…' : '';
      const gap = cutLeft.replace('…', ' ') + before.map((character) => blank(character)).join('');
      return [
        `${number} | ${cutLeft}${shown.join('')}${cutRight}`,
        `      | ${gap}^${'~'.repeat(Math.max(0, width(under) - 1))}`,
      ];
    },
  };
}

/** A finding over several lines is underlined to the end of its first. */
function caretEnd(diagnostic: ExcerptPlace, characters: readonly string[]): number {
  const trimmed = characters.join('').trimEnd();
  const lineEnd = [...trimmed].length;
  return diagnostic.endLine > diagnostic.line
    ? lineEnd
    : Math.max(diagnostic.endColumn - 1, diagnostic.column);
}

function mask(characters: string[], line: number, masks: readonly Diagnostic[]): void {
  for (const masked of masks) {
    if (line < masked.line || line > masked.endLine) continue;
    const from = line === masked.line ? masked.column - 1 : 0;
    const to = line === masked.endLine ? masked.endColumn - 1 : characters.length;
    for (let at = from; at < Math.min(to, characters.length); at++) characters[at] = '*';
  }
}

/** Control and direction characters would act on the terminal instead of being shown. */
function printable(character: string): string {
  if (character === '\t') return character;
  return /[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(character) ? '\ufffd' : character;
}

/** As wide as the character, so that the caret stands under its text; a tab stays a tab. */
function blank(character: string): string {
  return character === '\t' ? '\t' : ' '.repeat(width([character]));
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

function width(characters: readonly string[]): number {
  return characters.reduce((sum, character) => sum + columns(character), 0);
}

function columns(character: string): number {
  if (/\p{Mark}/u.test(character)) return 0;
  return WIDE.test(character) || (character.codePointAt(0) ?? 0) >= 0x20000 ? 2 : 1;
}
