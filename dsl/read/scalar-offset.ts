/**
 * Where a character of a scalar's value stands in the file: quotes, escapes, folding and indentation undone.
 * Owns the walk beside the text; must not know what the value says.
 */
import type { TreeScalar } from './tree.ts';
import type { Span } from './text-position.ts';

/**
 * The stretch of the file behind `start` to `end` of the value (UTF-16 units). Exact for plain and quoted text and for
 * literal blocks; in a folded block, the line is exact.
 */
export function spanInScalar(scalar: TreeScalar, range: Span, text: string): Span {
  const value = String(scalar.value);
  const raw = text.slice(scalar.span.start, scalar.span.end);
  const offsets = alignments(value, raw);
  const at = (index: number): number => scalar.span.start + (offsets[index] ?? raw.length);
  const start = at(range.start);
  const last = range.end > range.start ? at(range.end - 1) + 1 : start;
  return { start, end: Math.max(last, start) };
}

/** For each character of the value, its offset in the raw text. */
function alignments(value: string, raw: string): readonly number[] {
  const [first = ''] = raw;
  if (first === '"') return alignDoubleQuoted(value, raw);
  if (first === '|' || first === '>') return alignLines(value, raw, raw.indexOf('\n') + 1);
  return alignLines(value, raw, first === "'" ? 1 : 0);
}

/** Single quotes double theirs; line breaks stand for a space, and the indentation behind them for nothing. */
function alignLines(value: string, raw: string, from: number): readonly number[] {
  const doubled = raw.startsWith("'");
  const offsets: number[] = [];
  let at = from + (from > 0 && !doubled ? indentAt(raw, from) : 0);
  const indent = at - from;
  const block = from > 0 && !doubled;
  for (let index = 0; index < value.length; index++) {
    const wanted = value[index];
    if (raw[at] !== wanted && !(wanted === ' ' && raw[at] === '\n')) at = skipBlank(raw, at);
    offsets.push(at);
    const isBreak = raw[at] === '\n';
    at += doubled && wanted === "'" ? 2 : 1;
    if (isBreak) at += block ? Math.min(indent, indentAt(raw, at)) : indentAt(raw, at);
  }
  return offsets;
}

function indentAt(raw: string, at: number): number {
  return /^[ \t]*/.exec(raw.slice(at))?.[0].length ?? 0;
}

function skipBlank(raw: string, at: number): number {
  let next = at;
  while (next < raw.length && /\s/.test(raw[next] ?? '')) next += 1;
  return next;
}

/** Lengths of escapes by the character behind the backslash; every other is two. */
const ESCAPE_LENGTHS: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

function alignDoubleQuoted(value: string, raw: string): readonly number[] {
  const offsets: number[] = [];
  let at = 1;
  for (let index = 0; index < value.length; index++) {
    if (raw[at] === '\\' && raw[at + 1] === '\n') at = skipBlank(raw, at + 1);
    else if (raw[at] !== value[index] && raw[at] !== '\\' && raw[at] !== '\n') at = skipBlank(raw, at);
    offsets.push(at);
    if (raw[at] === '\\') {
      const length = ESCAPE_LENGTHS[raw[at + 1] ?? ''] ?? 2;
      const isPair = length === 10 && /[\uD800-\uDBFF]/.test(value[index] ?? '');
      if (isPair) offsets.push(at);
      if (isPair) index += 1;
      at += length;
    } else at = raw[at] === '\n' ? skipBlank(raw, at) : at + 1;
  }
  return offsets;
}
