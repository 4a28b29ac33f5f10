/**
 * Offsets in a text as lines and columns.
 * Owns the counting; must not know what stands in the text.
 */

/** A stretch of text by UTF-16 offsets; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Line and column count from 1; the column counts code points. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Answers positions in O(log lines); a 10 MiB file has too many lines to count from the top each time. */
export interface LineIndex {
  /** Offsets beyond the text answer its end. */
  position(offset: number): Position;
  /** The text of a line without its line break; '' beyond the end. */
  lineText(line: number): string;
  /** Offset of the first character of a line. */
  lineStart(line: number): number;
  readonly lineCount: number;
}

/** Finds the lines once, so that each position is a search. */
export function indexLines(text: string): LineIndex {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const lineStart = (line: number): number => starts[line - 1] ?? text.length;
  return {
    lineCount: starts.length,
    lineStart,
    lineText: (line) => text.slice(lineStart(line), lineStart(line + 1)).replace(/\r?\n$/, ''),
    position(offset) {
      const bounded = Math.max(0, Math.min(offset, text.length));
      const line = lastAtOrBefore(starts, bounded);
      return { line, column: codePoints(text.slice(lineStart(line), bounded)) + 1 };
    },
  };
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function lastAtOrBefore(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}
