/**
 * The records of `--json`: one JSON object a line, the first says the version of the form.
 * Owns the names of their fields; a minor version adds fields, a reader refuses another major one.
 */
import type { ReconciliationSummary, RunItemRow, RunRow } from '../core/machine/projection.ts';
import type { Trouble } from '../core/trouble.ts';
import type { TextStream } from './shell.ts';

const SCHEMA_VERSION = '1.0';

/** One line of `--json`. */
export type JsonRecord = Readonly<Record<string, unknown>> & { readonly type: string };

/** Where lines of `--json` go. */
export interface RecordStream {
  write(record: JsonRecord): void;
}

/** Streams that have their first record: an error may come before or after a command opened its records. */
const greeted = new WeakSet<TextStream>();

/** Writes the `hello` record at once, unless the stream has it. */
export function openRecords(stdout: TextStream): RecordStream {
  const write = (record: JsonRecord): void => {
    stdout.write(`${JSON.stringify(record)}\n`);
  };
  if (!greeted.has(stdout)) write({ type: 'hello', schema: SCHEMA_VERSION });
  greeted.add(stdout);
  return { write };
}

interface Answer {
  readonly records: readonly JsonRecord[];
  readonly lines: readonly string[];
}

/** What a command answers: records with `--json`, else lines. */
export function writeAnswer(
  stdout: TextStream,
  { json }: { readonly json?: boolean | undefined },
  { records, lines }: Answer,
): void {
  if (json === true) {
    const stream = openRecords(stdout);
    for (const record of records) stream.write(record);
  } else if (lines.length > 0) stdout.write(`${lines.join('\n')}\n`);
}

/** A run as `--json` prints it; instants in epoch milliseconds. */
export function runRecord(row: RunRow): JsonRecord {
  return {
    type: 'run',
    run_id: row.runId,
    name: row.name,
    plan_hash: row.planHash,
    phase: row.phase,
    mode: row.mode,
    reason: row.reason,
    total: row.total,
    waiting: row.waiting,
    in_flight: row.inFlight,
    ended: row.ended,
    ...(row.forgiven === undefined ? {} : { forgiven: row.forgiven }),
    spent_nano_usd: row.spentNanoUsd,
    created_at: row.createdAt,
    ended_at: row.endedAt,
    reconciliation: row.reconciliation === null ? null : reconciliationFields(row.reconciliation),
    ...troubleFields(row.trouble),
  };
}

/** `tags` are those of the plan's item; left out where the plan is not at hand. */
export function itemRecord(item: RunItemRow, tags?: Readonly<Record<string, string>>): JsonRecord {
  return {
    type: 'item',
    run_id: item.runId,
    key: item.key,
    phase: item.phase,
    attempt: item.attempt,
    conversation_id: item.conversationId,
    sandbox_id: item.sandboxId,
    sandbox_status: item.sandboxStatus,
    execution_status: item.executionStatus,
    outcome: item.outcome,
    failure_class: item.failureClass,
    detail: item.detail ?? item.waitsFor ?? null,
    cost_nano_usd: item.costNanoUsd,
    admitted_at: item.admittedAt,
    ended_at: item.endedAt,
    ...troubleFields(item.trouble),
    ...(tags === undefined ? {} : { tags }),
  };
}

/** Left out where there is none. */
function troubleFields(trouble: Trouble | null | undefined): Readonly<Record<string, unknown>> {
  if (trouble == null) return {};
  const { what, cause, since, tries, nextAt } = trouble;
  return { trouble: { what, cause, since, tries, next_at: nextAt } };
}

/** A reconciliation in a line of `--json`. */
export function reconciliationFields(summary: ReconciliationSummary): Readonly<Record<string, unknown>> {
  return {
    rows: summary.rows,
    total_nano_usd: summary.totalNanoUsd,
    assigned_nano_usd: summary.assignedNanoUsd,
    ambiguous_nano_usd: summary.ambiguousNanoUsd,
    unassigned_nano_usd: summary.unassignedNanoUsd,
    within_tolerance: summary.withinTolerance,
  };
}
