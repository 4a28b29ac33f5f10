/**
 * Questions about markdown text: tables, headings, code.
 * Pure; must not know a law.
 */

export interface Row {
  readonly line: number;
  readonly cells: readonly string[];
}

/** Rows of the first table whose header row begins with `firstHeader`, without header and rule. Empty when there is none. */
export function tableUnder(text: string, firstHeader: string): readonly Row[] {
  const rows = text.split('\n').map((line, index) => ({ line: index + 1, cells: cellsOf(line) }));
  const start = rows.findIndex((row) => row.cells[0]?.toLowerCase() === firstHeader.toLowerCase());
  if (start === -1) return [];
  const body = rows.slice(start + 2);
  const end = body.findIndex((row) => row.cells.length === 0);
  return end === -1 ? body : body.slice(0, end);
}

/** Rows of every table whose header row begins with `firstHeader`. */
export function tablesUnder(text: string, firstHeader: string): readonly Row[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    if (cellsOf(line)[0]?.toLowerCase() !== firstHeader.toLowerCase()) return [];
    const rows = tableUnder(lines.slice(index).join('\n'), firstHeader);
    return rows.map((row) => ({ line: row.line + index, cells: row.cells }));
  });
}

function cellsOf(line: string): readonly string[] {
  const trimmed = line.trim();
  if (!trimmed.startsWith('|') || !trimmed.endsWith('|')) return [];
  return trimmed
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** Everything between backticks in a cell, in order. */
export function codeIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
}

/** Lines outside fenced code. */
export function proseLines(text: string): readonly { readonly line: number; readonly text: string }[] {
  let fenced = false;
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*(```|~~~)/.test(line)) {
      fenced = !fenced;
      return [];
    }
    return fenced ? [] : [{ line: index + 1, text: line }];
  });
}
