/**
 * What a plan changes against another one: conversation by conversation, field by field.
 * Owns the comparison; what an earlier run made of its conversations is handed in.
 */
import { isReplaced } from '../../core/plan/known-items.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import type { Outcome } from '../../core/status.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import { isMapValue } from './plan-text.ts';

/** `reused`: nothing changed and it had succeeded; `retried`: nothing changed and it had not. */
export type ItemChangeKind = 'new' | 'changed' | 'reused' | 'retried' | 'orphaned';

/** One field that two plans have differently. */
export interface FieldChange {
  /** Dotted: `limits.turns`; `prompt` as a whole. */
  readonly field: string;
  /** Undefined where the field was not there. */
  readonly before: unknown;
  readonly after: unknown;
}

/** What became of one conversation between two plans. */
export interface ItemChange {
  readonly kind: ItemChangeKind;
  readonly key: string;
  /** Of `changed` alone. */
  readonly fields: readonly FieldChange[];
  /** What became of it before; null when it had not ended, or was not there. */
  readonly outcome: Outcome | null;
}

/** All that differs between two plans. */
export interface PlanDiff {
  /** What concerns the run as a whole. */
  readonly run: readonly FieldChange[];
  /** In the order of the new plan, then what only the old one has. */
  readonly items: readonly ItemChange[];
}

/** `outcomes` are those of the run of the old plan, by key. */
export function diffPlans(
  before: Plan,
  after: Plan,
  outcomes: ReadonlyMap<string, Outcome | null>,
): PlanDiff {
  const old = new Map(before.items.map((item) => [item.key, item]));
  const kept = new Set(after.items.map(({ key }) => key));
  const changes = after.items.map((item) =>
    changeOf(old.get(item.key), item, outcomes.get(item.key) ?? null),
  );
  const orphans = before.items
    .filter((item) => !kept.has(item.key) && !isReplaced(item, after))
    .map(({ key }): ItemChange => ({
      kind: 'orphaned',
      key,
      fields: [],
      outcome: outcomes.get(key) ?? null,
    }));
  return { run: fieldChanges(runOf(before), runOf(after)), items: [...changes, ...orphans] };
}

/** Neither the run nor a conversation would be another one. */
export function isUnchanged({ run, items }: PlanDiff): boolean {
  return run.length === 0 && items.every(({ kind }) => kind === 'reused' || kind === 'retried');
}

function changeOf(before: PlanItem | undefined, after: PlanItem, outcome: Outcome | null): ItemChange {
  const { key } = after;
  if (before === undefined) return { kind: 'new', key, fields: [], outcome: null };
  if (before.specHash === after.specHash)
    return { kind: outcome === 'succeeded' ? 'reused' : 'retried', key, fields: [], outcome };
  return { kind: 'changed', key, fields: fieldChanges(specOf(before), specOf(after)), outcome };
}

function specOf({ index: _index, specHash: _hash, ...spec }: PlanItem): object {
  return spec;
}

function runOf({ items: _items, hash: _hash, ...run }: Plan): object {
  return run;
}

/** Maps are compared key by key, everything else as a whole. */
function fieldChanges(before: unknown, after: unknown, path = ''): FieldChange[] {
  if (isMapValue(before) && isMapValue(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) =>
      fieldChanges(before[name], after[name], path === '' ? name : `${path}.${name}`),
    );
  }
  return textOf(before) === textOf(after) ? [] : [{ field: path, before, after }];
}

function textOf(value: unknown): string | null {
  return value === undefined ? null : canonicalJson(value);
}
