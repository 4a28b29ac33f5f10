/**
 * Where a finding of the compiler is in a text, as an editor counts.
 * Owns the arithmetic: the compiler counts lines and code points from 1, an editor counts UTF-16 units from 0; pure.
 */
export interface FindingPlace {
  readonly line: number;
  readonly column: number;
  readonly end_line: number;
  readonly end_column: number;
}

/** Never outside the text, and never empty unless the text ends there. */
export function rangeOf(
  text: string,
  { line, column, end_line: endLine, end_column: endColumn }: FindingPlace,
): { readonly from: number; readonly to: number } {
  const from = offsetOf(text, line, column);
  const to = offsetOf(text, endLine, endColumn);
  return { from, to: Math.max(to, Math.min(from + 1, text.length)) };
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const next = text.indexOf('\n', start);
    if (next === -1) return text.length;
    start = next + 1;
  }
  const end = text.indexOf('\n', start);
  const row = text.slice(start, end === -1 ? text.length : end);
  const before = [...row].slice(0, Math.max(0, column - 1)).join('');
  return start + before.length;
}
