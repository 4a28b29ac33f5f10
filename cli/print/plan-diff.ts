/**
 * A comparison of plans as lines for people: counts first, then what is not as it was.
 * Owns signs and widths.
 */
import { counted } from '../../core/text/counted.ts';
import type { FieldChange, ItemChange, ItemChangeKind, PlanDiff } from '../../dsl/plan/plan-diff.ts';
import { cut } from '../../host/terminal-text.ts';

const SIGNS: Readonly<Record<ItemChangeKind, string>> = {
  new: '+',
  changed: '~',
  reused: '=',
  retried: '!',
  orphaned: '-',
};
const KINDS: readonly ItemChangeKind[] = ['new', 'changed', 'reused', 'retried', 'orphaned'];
const SHOWN_KINDS: readonly ItemChangeKind[] = ['changed', 'retried', 'orphaned', 'new'];
/** What is more is in --json. */
const SHOWN_MAX = 50;
const VALUE_WIDTH = 60;

export function planDiffLines(diff: PlanDiff, against: string): string[] {
  const counts = KINDS.map((kind) => ({
    kind,
    count: diff.items.filter((item) => item.kind === kind).length,
  }));
  const summary = counts
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${SIGNS[kind]} ${count} ${kind}`);
  // What a person looks for first: of many conversations most are new, and the list is cut.
  const shown = SHOWN_KINDS.flatMap((kind) => diff.items.filter((item) => item.kind === kind));
  return [
    `against ${against}: ${summary.length === 0 ? 'no conversation changed' : summary.join('   ')}`,
    ...diff.run.map((change) => `  ~ ${fieldLine(change)}`),
    ...shown.slice(0, SHOWN_MAX).flatMap(itemLines),
    ...(shown.length > SHOWN_MAX
      ? [`  and ${counted(shown.length - SHOWN_MAX, 'more conversation')}; see --json`]
      : []),
  ];
}

function itemLines({ kind, key, fields, outcome }: ItemChange): string[] {
  const why = kind === 'retried' ? ` (${outcome ?? 'had not ended'})` : '';
  return [`  ${SIGNS[kind]} ${key}${why}`, ...fields.map((change) => `      ${fieldLine(change)}`)];
}

function fieldLine({ field, before, after }: FieldChange): string {
  return `${field}: ${valueText(before)} → ${valueText(after)}`;
}

function valueText(value: unknown): string {
  return value === undefined ? 'not set' : cut(JSON.stringify(value), VALUE_WIDTH);
}
