/**
 * What is kept of a run's reconciliation: the shape of `reconciliation.json`.
 * Owns the shape alone; it is written and read elsewhere.
 */
import type { ErrorCode } from '../error-catalogue.ts';
import type { RunId } from '../ids.ts';
import type { ReconciliationSummary } from '../machine/projection.ts';
import type { SpendLoss } from '../money/spend-loss.ts';
import type { GatewayRow } from '../money/spend.ts';
import type { UsdSum } from '../money/usd-sum.ts';
import type { PlanReconcile } from '../plan/plan.ts';
import type { ReconcileSums, RowVerdict } from './reconcile-result.ts';

export type RowsSource = PlanReconcile['rows'];

/** A stretch of time. */
export interface Interval {
  /** Epoch milliseconds, half-open. */
  readonly from: number;
  readonly to: number;
}

/** A verdict with what it takes to find the row again. Never the name of a key. */
export type RecordedRow = RowVerdict & Pick<GatewayRow, 'responseId' | 'startedAt' | 'model'>;

/** What a reconciliation found, as it is kept. */
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
  /** Calls that may stay unbilled; absent without such a bound. */
  readonly unbilledMax?: number;
  /** What of the unassigned amount our proxy sent for other callers: explained, and no part of the tolerance. */
  readonly otherCallersNanoUsd: UsdSum;
  /** Calls of its time that the store had lost; absent when none are known. */
  readonly spendLost?: SpendLoss;
  readonly result: ReconcileSums;
  /** One per row; as read, in the order of the export. */
  readonly rows: readonly RecordedRow[];
}

/** Why there is no reconciliation, as it is kept. */
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

/** Everything but the rows. */
export type ReconciliationHead = Omit<ReconciliationDone, 'rows'>;
