/**
 * Everything that a report contains, gathered before it is written.
 * Owns the shapes; must not read, count or lay out anything.
 */
import type { RunId } from '../core/ids.ts';
import type { PlanWhole } from '../core/plan/plan.ts';
import type { RunItemRow, RunRow } from '../core/machine/projection.ts';
import type { SpendLoss } from '../core/money/spend-loss.ts';
import type { DeliveryState, Finding, LastStep, Score } from '../core/run/items/item-evidence.ts';
import type { ReconciliationRecord } from '../core/reconcile/reconciliation-record.ts';

/** What our proxy counted: calls of one item over all attempts, or of the whole run. */
export interface OwnSpend {
  readonly calls: number;
  /** Calls of unknown price; they are in no amount (D26). */
  readonly unpriced: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly nanoUsd: number;
}

/** A collected result that the page links to. */
export interface CollectedFile {
  readonly name: string;
  /** Relative to the run's folder, encoded for a link. */
  readonly href: string;
}

/** The delivery of the branch of one item. */
export interface DeliveredItem {
  readonly state: DeliveryState;
  readonly repository: string;
  readonly branch: string;
  /** The one that was pushed last, or is about to be; null when there is none. */
  readonly commit: string | null;
  /** Address of the pull request; null where there is none. */
  readonly pullRequest: string | null;
  readonly problem: string | null;
}

/** A text of an item as a reader sees it: without secrets, and no longer than a report has room for. */
export interface ShownText {
  readonly text: string;
  /** Characters that were left out; 0 for none. */
  readonly cut: number;
}

/** The result of the previous run of the same job and user. */
export interface LastRun {
  readonly runId: RunId;
  readonly total: number;
  readonly succeeded: number;
  readonly spentNanoUsd: number;
  readonly durationMs: number;
}

export type LastStepShown = Pick<LastStep, 'step' | 'state' | 'at' | 'problem'>;

/** One item of the run, with all that the page shows of it. */
export interface ReportItem {
  /** Null when the item was never projected: the run has just begun. */
  readonly row: RunItemRow | null;
  readonly key: string;
  readonly entry: string;
  readonly model: string;
  /** Absent: the deployment's. */
  readonly agent?: string;
  readonly matrix: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  /** Copies that are judged as one; absent: by itself. */
  readonly whole?: PlanWhole;
  readonly spend: OwnSpend;
  readonly files: readonly CollectedFile[];
  /** What the results lack, and why. */
  readonly findings: readonly Finding[];
  /** The last lines of a check that failed; empty for any other end. */
  readonly check: readonly string[];
  readonly prompt: ShownText;
  /** The agent's last message; null when none is kept. */
  readonly answer: ShownText | null;
  /** What it changed, as Git writes it; null when nothing was collected. */
  readonly patch: ShownText | null;
  /** The command of its check; null for none. */
  readonly checkCommand: string | null;
  /** The end of what its last check printed, passed or not; null when none ran. */
  readonly checkOutput: ShownText | null;
  /** Numbers that the job's commands gave it, in the order of the job; empty for none. */
  readonly scores: readonly Score[];
  /** Null when nothing was to be pushed. */
  readonly delivery: DeliveredItem | null;
}

/** Everything that a report is drawn from. */
export interface ReportData {
  readonly run: RunRow;
  /** The newest run of the job that was begun before and has ended; null for the first. */
  readonly last: LastRun | null;
  readonly description: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** Failed items that still count as success. */
  readonly toleratedFailures: number;
  /** True when the job asks for reconciliation. */
  readonly asksReconciliation: boolean;
  /** In the order of the plan. */
  readonly items: readonly ReportItem[];
  readonly spend: OwnSpend;
  /** Calls of its time that the store had lost; null when none are known. */
  readonly spendLost: SpendLoss | null;
  /** Notifications of the end, in the order of the job; empty before. */
  readonly lastSteps: readonly LastStepShown[];
  readonly reconciliation: ReconciliationRecord | null;
  /**
   * The gateway's begin less ours, one for each row that was joined with a call by response id, in milliseconds; empty
   * without a reconciliation.
   */
  readonly exactSkewsMs: readonly number[];
  /** Where readers reach the console, for links; null when it is not configured. */
  readonly consoleUrl: string | null;
  /** Epoch milliseconds. */
  readonly writtenAt: number;
}
