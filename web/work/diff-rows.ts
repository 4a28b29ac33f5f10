/**
 * Two texts as the rows of their comparison.
 * Owns the pairing of what was taken out with what came in its place, and the stretches that are left out between; pure.
 */
import { diffLines } from 'diff';

export interface DiffRow {
  /** `same` stands on both sides; `changed` has another text on each. */
  readonly kind: 'same' | 'removed' | 'added' | 'changed';
  /** Line numbers from 1; null on the side that has no such line. */
  readonly oldLine: number | null;
  readonly newLine: number | null;
  readonly oldText: string;
  readonly newText: string;
}

/** Rows that are the same on both sides and far from any change. */
export interface LeftOut {
  readonly kind: 'left-out';
  readonly rows: readonly DiffRow[];
}

export interface Comparison {
  readonly parts: readonly (DiffRow | LeftOut)[];
  readonly added: number;
  readonly removed: number;
}

/** Lines around a change. */
const AROUND = 3;
/** A comparison that needs more is given up: the whole old text is then replaced by the new one. */
const EDITS_MAX = 4_000;
const WORK_MS_MAX = 150;

export function compare(before: string, after: string): Comparison {
  const rows = rowsOf(before, after);
  const count = (kind: DiffRow['kind']): number => rows.filter((row) => row.kind === kind).length;
  const changed = count('changed');
  return { parts: folded(rows), added: count('added') + changed, removed: count('removed') + changed };
}

function rowsOf(before: string, after: string): readonly DiffRow[] {
  const found = diffLines(before, after, { maxEditLength: EDITS_MAX, timeout: WORK_MS_MAX });
  const parts = found ?? [
    { value: before, removed: true, added: false },
    { value: after, added: true, removed: false },
  ];
  const rows: DiffRow[] = [];
  const at = { old: 1, new: 1 };
  let removed: string[] = [];
  let added: string[] = [];
  const flush = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1)
      rows.push(rowOf(removed[index], added[index], at));
    removed = [];
    added = [];
  };
  for (const part of parts) {
    const lines = linesOf(part.value);
    if (part.removed) removed.push(...lines);
    else if (part.added) added.push(...lines);
    else {
      flush();
      for (const line of lines) rows.push(rowOf(line, line, at, 'same'));
    }
  }
  flush();
  return rows;
}

function rowOf(
  oldText: string | undefined,
  newText: string | undefined,
  at: { old: number; new: number },
  same?: 'same',
): DiffRow {
  const kind = same ?? (oldText === undefined ? 'added' : newText === undefined ? 'removed' : 'changed');
  const row: DiffRow = {
    kind,
    oldLine: oldText === undefined ? null : at.old,
    newLine: newText === undefined ? null : at.new,
    oldText: oldText ?? '',
    newText: newText ?? '',
  };
  if (oldText !== undefined) at.old += 1;
  if (newText !== undefined) at.new += 1;
  return row;
}

function linesOf(text: string): readonly string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** A stretch that would hide one or two rows hides nothing. */
const LEFT_OUT_MIN = 3;

function folded(rows: readonly DiffRow[]): readonly (DiffRow | LeftOut)[] {
  const isNear = new Uint8Array(rows.length);
  rows.forEach(({ kind }, at) => {
    if (kind !== 'same') isNear.fill(1, Math.max(0, at - AROUND), at + AROUND + 1);
  });
  const parts: (DiffRow | LeftOut)[] = [];
  for (let at = 0; at < rows.length;) {
    let end = at;
    while (end < rows.length && isNear[end] === 0) end += 1;
    const far = rows.slice(at, end);
    if (far.length >= LEFT_OUT_MIN) parts.push({ kind: 'left-out', rows: far });
    else parts.push(...far);
    while (end < rows.length && isNear[end] === 1) parts.push(...rows.slice(end, (end += 1)));
    at = end;
  }
  return parts;
}
