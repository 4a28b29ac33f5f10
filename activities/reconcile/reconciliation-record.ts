/**
 * `reconciliation.json`: what a run's reconciliation said, whole, for reports and for whoever doubts them.
 * Owns the file's shape and its stable order: the same rows give the same bytes but for the instant.
 */
import type { ErrorCode } from '../../core/error-catalogue.ts';
import type { RunId } from '../../core/ids.ts';
import type { NanoUsd } from '../../core/money.ts';
import type { ReconciliationSummary } from '../../core/projection.ts';
import type { Reconciliation, RowVerdict } from '../../core/reconcile-result.ts';
import type { GatewayRow } from '../../core/spend.ts';
import type { World } from '../world.ts';
import type { RowsSource } from './billed-rows.ts';
import type { Interval } from './run-calls.ts';

const FILE = 'reconciliation.json';

/** A verdict with what it takes to find the row again. Never the name of a key. */
export type RecordedRow = RowVerdict & Pick<GatewayRow, 'responseId' | 'startedAt' | 'model'>;

export interface ReconciliationDone {
  readonly format: 1;
  readonly kind: 'done';
  readonly runId: RunId;
  readonly planHash: string;
  /** Epoch milliseconds. */
  readonly reconciledAt: number;
  readonly source: RowsSource;
  readonly interval: Interval;
  readonly isForwarding: boolean;
  readonly summary: ReconciliationSummary;
  readonly unmatchedNanoUsdMax: number | null;
  /** What of the unassigned amount our proxy sent for other callers: explained, and no part of the tolerance. */
  readonly otherCallersNanoUsd: NanoUsd;
  readonly result: Omit<Reconciliation, 'verdicts'>;
  /** One per row, in the order of the export. */
  readonly rows: readonly RecordedRow[];
}

export interface ReconciliationFailed {
  readonly format: 1;
  readonly kind: 'failed';
  readonly runId: RunId;
  readonly planHash: string;
  readonly failedAt: number;
  readonly code: ErrorCode;
  readonly message: string;
}

export type ReconciliationRecord = ReconciliationDone | ReconciliationFailed;

export function recordRows(
  verdicts: readonly RowVerdict[],
  rows: readonly GatewayRow[],
): readonly RecordedRow[] {
  return verdicts.map((verdict, index) => {
    const row = rows[index];
    return {
      ...verdict,
      responseId: row?.responseId ?? null,
      startedAt: row?.startedAt ?? 0,
      model: row?.model ?? '',
    };
  });
}

export async function writeRecord(world: World, record: ReconciliationRecord): Promise<void> {
  await world.results.write({ runId: record.runId, key: null, name: FILE }, encodeRecord(record));
}

/** One row a line: a million rows are more than one text can hold, and lines are easy to search. */
export function encodeRecord(record: ReconciliationRecord): Uint8Array {
  if (record.kind === 'failed') return Buffer.from(`${JSON.stringify(record, null, 2)}\n`);
  const { rows, ...head } = record;
  const opening = JSON.stringify(head, null, 2).replace(/\n\}$/, ',\n  "rows": [');
  const lines = rows.map((row, index) =>
    Buffer.from(`${index === 0 ? '' : ','}\n    ${JSON.stringify(row)}`),
  );
  return Buffer.concat([
    Buffer.from(opening),
    ...lines,
    Buffer.from(rows.length === 0 ? ']\n}\n' : '\n  ]\n}\n'),
  ]);
}

/** Null when the run was never reconciled, or the file is not one that this program wrote. */
export async function readRecord(world: World, runId: RunId): Promise<ReconciliationRecord | null> {
  const content = await world.results.read({ runId, key: null, name: FILE });
  if (content === null) return null;
  try {
    const record = JSON.parse(Buffer.from(content).toString('utf8')) as Partial<ReconciliationRecord> | null;
    const isOurs = record?.format === 1 && (record.kind === 'done' || record.kind === 'failed');
    return isOurs && record.runId === runId ? (record as ReconciliationRecord) : null;
  } catch {
    return null;
  }
}
