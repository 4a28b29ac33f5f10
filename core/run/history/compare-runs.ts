/**
 * Two runs beside each other, item by item.
 * Owns the pairing by key and what counts as a change; pure.
 */
import type { RunItemRow } from '../../machine/projection.ts';
import { endedWell } from '../../status.ts';

/** `same`: the same outcome, whatever it cost. `other`: another outcome that is neither better nor worse. */
export const COMPARED = ['worse', 'better', 'other', 'added', 'removed', 'same'] as const;
export type Compared = (typeof COMPARED)[number];

export interface ComparedItem {
  readonly key: string;
  readonly verdict: Compared;
  /** Null where the run has no such item. */
  readonly before: RunItemRow | null;
  readonly after: RunItemRow | null;
}

/** What is worse first; equal ones by key. */
export function compareRuns(
  before: readonly RunItemRow[],
  after: readonly RunItemRow[],
): readonly ComparedItem[] {
  const old = new Map(before.map((item) => [item.key, item]));
  const pairs: ComparedItem[] = after.map((item) => pair(item.key, old.get(item.key) ?? null, item));
  const kept = new Set(after.map(({ key }) => key));
  for (const item of before) if (!kept.has(item.key)) pairs.push(pair(item.key, item, null));
  return pairs.sort(
    (a, b) =>
      COMPARED.indexOf(a.verdict) - COMPARED.indexOf(b.verdict) ||
      (a.key < b.key ? -1 : a.key > b.key ? 1 : 0),
  );
}

function pair(key: string, before: RunItemRow | null, after: RunItemRow | null): ComparedItem {
  return { key, verdict: verdictOf(before, after), before, after };
}

function verdictOf(before: RunItemRow | null, after: RunItemRow | null): Compared {
  if (before === null) return 'added';
  if (after === null) return 'removed';
  if (before.outcome === after.outcome) return 'same';
  const [was, is] = [endedWell(before.outcome), endedWell(after.outcome)];
  if (was === is || before.outcome === null || after.outcome === null) return 'other';
  return is ? 'better' : 'worse';
}
