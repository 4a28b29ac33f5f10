/**
 * Rows that queries read instead of querying machines.
 * Owns their shapes; every row carries a stamp, so that an old write never wins.
 */
import type { ConversationId, EntityAddress, RunId, SandboxId, UserId } from '../ids.ts';
import type { Observability } from '../observability.ts';
import type { Stamp } from './snapshot.ts';
import type { Trouble } from '../trouble.ts';
import type { UsdSum } from '../money/usd-sum.ts';
import {
  countWell,
  type ExecutionStatus,
  type FailureClass,
  type Outcome,
  type PauseReason,
  type SandboxStatus,
  type StartTaskStatus,
  type Transition,
} from '../status.ts';

/** What queries read of a sandbox. */
export interface SandboxRow extends Stamp {
  readonly table: 'sandbox';
  readonly sandboxId: SandboxId;
  readonly userId: UserId;
  readonly status: SandboxStatus;
  readonly pauseReason: PauseReason | null;
  readonly transition: Transition | null;
  readonly detail: string | null;
  /** True while the runtime could not be queried (D13). */
  readonly stale: boolean;
  readonly createdAt: number;
  readonly createdBy: 'placement' | 'api';
  /** Start of the current session window; null while no runtime is up. */
  readonly sessionStartedAt: number | null;
  readonly releasedAt: number | null;
  /** Runtime up in this generation and accepting conversations. */
  readonly available: boolean;
  /** False gives the capacity slot back (D17), in the same write. */
  readonly holdsSlot: boolean;
  readonly archive: 'none' | 'stored' | 'archive_failed';
  /** Milliseconds that its last stop took, during which it held its slot; absent before one. */
  readonly stopMs?: number;
  /** End of that stop, epoch milliseconds. */
  readonly stoppedAt?: number;
}

/** `detail` of a sandbox that is `MISSING` because its runtime was found gone (D13). */
export const RUNTIME_GONE = 'runtime_gone';

/** `detail` of a sandbox that is `MISSING` because its host was given up (D33). */
export const HOST_LOST = 'host_lost';

/** What queries read of a conversation. */
export interface ConversationRow extends Stamp {
  readonly table: 'conversation';
  readonly conversationId: ConversationId;
  readonly userId: UserId;
  readonly runId: RunId | null;
  readonly key: string | null;
  readonly sandboxId: SandboxId | null;
  readonly sandboxStatus: SandboxStatus | null;
  readonly startTask: StartTaskStatus;
  readonly startTaskDetail: string | null;
  readonly executionStatus: ExecutionStatus | null;
  readonly executionStatusAt: number | null;
  readonly queuedMessages: number;
  readonly selectedRepository: string | null;
  readonly selectedBranch: string | null;
  readonly model: string | null;
  readonly title: string | null;
  readonly tags: Readonly<Record<string, string>>;
  /** Provider of the repository; absent where the start names none. */
  readonly codeHost?: string;
  readonly nanoUsdMax?: number;
  /** As the start request has it (D21); absent when it says nothing. */
  readonly observability?: Observability;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type RunPhase =
  'running' | 'cleaning' | 'settling' | 'reconciling' | 'reporting' | 'closing' | 'finished';

/** What a client requested of a run: to go on, to begin nothing more, to stand still, or to end. */
export type RunMode = 'normal' | 'draining' | 'paused' | 'cancelling';

/** What queries read of a run. */
export interface RunRow extends Stamp {
  readonly table: 'run';
  readonly runId: RunId;
  /** The user it belongs to; absent: the local user. */
  readonly userId?: UserId;
  readonly name: string;
  readonly planHash: string;
  readonly phase: RunPhase;
  readonly mode: RunMode;
  /** Why it is paused, drained or stopped; in normal mode what keeps the next item from beginning, null when nothing does. */
  readonly reason: string | null;
  readonly total: number;
  readonly waiting: number;
  readonly inFlight: number;
  readonly ended: Readonly<Partial<Record<Outcome, number>>>;
  /** Of those that ended otherwise than well: copies whose item succeeded as a whole; absent for none, and while it runs. */
  readonly forgiven?: number;
  readonly spentNanoUsd: number;
  /** As it holds now, changes of it included; absent for none. */
  readonly budget?: RunBudgetRow;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly reconciliation: ReconciliationSummary | null;
  /** Only on rows that were read to be shown: it is never projected. */
  readonly trouble?: Trouble | null;
}

export interface RunBudgetRow {
  readonly nanoUsd: number;
  /** Held for each item in flight until its attempt ends. */
  readonly reserveNanoUsd: number;
  readonly mode: 'observe' | 'audit' | 'enforce';
}

/** Conversations that did not end well, or not yet; not those that are forgiven. */
export function unsuccessfulOf({
  total,
  ended,
  forgiven = 0,
}: Pick<RunRow, 'total' | 'ended' | 'forgiven'>): number {
  return total - countWell(ended) - forgiven;
}

/** What the run keeps of its reconciliation (D27); the whole of it is in the report. */
export interface ReconciliationSummary {
  readonly rows: number;
  readonly totalNanoUsd: UsdSum;
  readonly assignedNanoUsd: UsdSum;
  readonly ambiguousNanoUsd: UsdSum;
  readonly unassignedNanoUsd: UsdSum;
  /** Null without a bound on what may stay unmatched. */
  readonly withinTolerance: boolean | null;
}

export type ItemPhase = 'waiting' | 'starting' | 'working' | 'verifying' | 'collecting' | 'ended';

/** What queries read of one item of a run. */
export interface RunItemRow extends Stamp {
  readonly table: 'run_item';
  readonly runId: RunId;
  readonly key: string;
  readonly phase: ItemPhase;
  readonly attempt: number;
  readonly conversationId: ConversationId | null;
  readonly sandboxId: SandboxId | null;
  readonly sandboxStatus: SandboxStatus | null;
  readonly executionStatus: ExecutionStatus | null;
  readonly outcome: Outcome | null;
  readonly failureClass: FailureClass | null;
  readonly detail: string | null;
  readonly costNanoUsd: number | null;
  readonly admittedAt: number | null;
  readonly endedAt: number | null;
  /** Its conversation waits for a slot, and who has them (D29); absent otherwise. */
  readonly waitsFor?: string;
  /** Conversations of it that take no place of their run's pool any more; absent when there is no pool. */
  readonly left?: readonly ConversationId[];
  /** Only on rows that were read to be shown: it is never projected. */
  readonly trouble?: Trouble | null;
}

/** A row that a machine projects at a transition. */
export type ProjectionRow = SandboxRow | ConversationRow | RunRow | RunItemRow;

/** Code of the event of a start that failed. */
export const START_FAILED = 'start_failed';
/** Event code of a message that was accepted and then refused; its detail begins with the message's id. */
export const MESSAGE_REFUSED = 'message_refused';
/** They answer a user's own words, and so stand in the transcript. */
export const TRANSCRIPT_CODES: ReadonlySet<string> = new Set([START_FAILED, MESSAGE_REFUSED]);

/** What a user reads beside the agent's own events: refusals, interruptions, archive failures. */
export interface LifecycleEvent {
  readonly about: EntityAddress;
  readonly conversationId: ConversationId | null;
  readonly code: string;
  readonly detail: string;
}
