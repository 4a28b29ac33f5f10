/**
 * The conversations of a run as rows: one column for each fact, axis and tag.
 * Owns the columns and their order, and both forms; amounts are integers of nano-USD, instants ISO 8601.
 */
import type { Plan } from '../../core/plan/plan.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import type { Delivery } from '../results/deliveries.ts';

export type ExportRow = Readonly<Record<string, string | number | null>>;

export interface ExportedRun {
  readonly items: readonly RunItemRow[];
  readonly plan: Plan | null;
  readonly deliveries: readonly Delivery[];
}

/** Every row has the same columns in the same order; a column without a value is null. */
export function exportRows({ items, plan, deliveries }: ExportedRun): readonly ExportRow[] {
  const planned = new Map(plan?.items.map((item) => [item.key, item]));
  const delivered = new Map(deliveries.map((delivery) => [delivery.key, delivery]));
  const axes = namesOf(plan?.items.map(({ matrix }) => matrix));
  const tags = namesOf(plan?.items.map((item) => item.tags));
  return items.map((row) => {
    const item = planned.get(row.key);
    const delivery = delivered.get(row.key);
    const named = (prefix: string, names: readonly string[], values: Readonly<Record<string, string>> = {}) =>
      Object.fromEntries(names.map((name) => [`${prefix}.${name}`, values[name] ?? null]));
    return {
      run: row.runId,
      key: row.key,
      entry: item?.entry ?? null,
      model: item?.model ?? null,
      repository: item?.repository?.name ?? null,
      ...named('matrix', axes, item?.matrix),
      ...named('tag', tags, item?.tags),
      phase: row.phase,
      outcome: row.outcome,
      failure_class: row.failureClass,
      detail: row.detail,
      attempt: row.attempt,
      admitted_at: instant(row.admittedAt),
      ended_at: instant(row.endedAt),
      duration_ms: row.admittedAt === null || row.endedAt === null ? null : row.endedAt - row.admittedAt,
      cost_nano_usd: row.costNanoUsd,
      conversation_id: row.conversationId,
      sandbox_id: row.sandboxId,
      ...(plan?.deliver === undefined
        ? {}
        : {
            branch: delivery?.branch ?? null,
            commit: delivery?.commit ?? null,
            delivery: delivery?.state ?? null,
          }),
      ...(plan?.deliver?.pullRequest === undefined
        ? {}
        : { pull_request: delivery?.pullRequest?.url ?? null }),
      ...(plan?.issues === undefined ? {} : { issue: item?.issue?.url ?? null }),
    };
  });
}

function namesOf(maps: readonly Readonly<Record<string, string>>[] = []): readonly string[] {
  return [...new Set(maps.flatMap((map) => Object.keys(map)))].sort();
}

function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

export function rowsAsJsonl(rows: readonly ExportRow[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** RFC 4180; without rows only nothing, because the columns follow from the plan. */
export function rowsAsCsv(rows: readonly ExportRow[]): string {
  const [first] = rows;
  if (first === undefined) return '';
  const lines = [Object.keys(first), ...rows.map((row) => Object.values(row))];
  return lines.map((cells) => `${cells.map(cell).join(',')}\r\n`).join('');
}

/** A spreadsheet would take text that begins with one of these as a formula; the quote before it is shown by none. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
