/**
 * The bytes of a data file as text, piece by piece: UTF-8 without NUL, or a problem with its line.
 * Owns the decoding; holds no more than a piece and the line that it breaks off in.
 */
import { firstBrokenLine } from '../read/decode-source.ts';
import { ROW_CHARS_MAX, type RowProblem } from './row.ts';

/** A character has at most four bytes: a line of more bytes is longer than any row. */
const LINE_BYTES_MAX = 4 * ROW_CHARS_MAX;
const LINE_FEED = 0x0a;

/** Pieces of bytes end with a line, because no line break lies within a character. Ends behind the first problem. */
export function* rowText(chunks: Iterable<string | Uint8Array>): Generator<string | RowProblem> {
  let line = 1;
  for (const piece of wholeLines(chunks)) {
    const text = typeof piece === 'string' ? piece : decode(piece, line);
    if (typeof text !== 'string') return yield text;
    const nul = text.indexOf('\0');
    if (nul !== -1) return yield nulAt(line + lineBreaks(text.slice(0, nul)));
    line += lineBreaks(text);
    yield text;
  }
}

function* wholeLines(chunks: Iterable<string | Uint8Array>): Generator<string | Uint8Array> {
  let rest = new Uint8Array(0);
  for (const chunk of chunks) {
    if (typeof chunk === 'string') {
      yield chunk;
      continue;
    }
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) yield joined(rest, chunk.subarray(0, end));
    rest = end > 0 ? chunk.slice(end) : joined(rest, chunk);
    if (rest.length <= LINE_BYTES_MAX) continue;
    // The reader of the text says that the line is too long.
    yield rest;
    rest = new Uint8Array(0);
  }
  if (rest.length > 0) yield rest;
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

function decode(bytes: Uint8Array, line: number): string | RowProblem {
  // A line that is too long may break off within a character, and is refused for its length.
  const fatal = bytes.length <= LINE_BYTES_MAX || bytes.at(-1) === LINE_FEED;
  try {
    return new TextDecoder('utf-8', { fatal, ignoreBOM: true }).decode(bytes);
  } catch {
    return {
      line: line - 1 + firstBrokenLine(bytes),
      message: 'this line holds bytes that are not UTF-8 text',
      remedy: 'save the file as UTF-8',
    };
  }
}

function nulAt(line: number): RowProblem {
  const remedy = 'save the file as UTF-8 text: NUL bytes stand in UTF-16 and in files that are no text';
  return { line, message: 'this line holds a NUL byte, which no text has', remedy };
}

function lineBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
