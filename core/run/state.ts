/**
 * What a run machine remembers of one batch job.
 * Owns the state's shape, its first value and how a plan becomes it; must not own a transition.
 */
import {
  sandboxId as asSandboxId,
  type ConversationId,
  type RunId,
  type SandboxId,
  type UserId,
} from '../ids.ts';
import type { Plan, PlanBreaker, PlanBudget, PlanCleanup, PlanRetryRule, PlanWait } from '../plan.ts';
import type { ItemPhase, ReconciliationSummary, RunMode, RunPhase } from '../projection.ts';
import type { SeenRequests } from '../requests.ts';
import type { LimitReached } from '../snapshot.ts';
import type { ExecutionStatus, FailureClass, Outcome, SandboxStatus } from '../status.ts';
import type { Mutable } from '../turn.ts';

export const RUN_PHASES = [
  'running',
  'cleaning',
  'settling',
  'reconciling',
  'reporting',
  'finished',
] as const satisfies readonly RunPhase[];

/** The rules of a run, taken from its plan; texts and secrets stay in the plan, by reference. */
export interface RunRules {
  readonly concurrency: number;
  /** False when every conversation has a sandbox of its own: it can go as soon as its item has ended. */
  readonly sharesSandboxes: boolean;
  /** A sandbox that the job names belongs to its user: a run never removes it. */
  readonly explicitSandboxId: SandboxId | null;
  readonly retry: readonly PlanRetryRule[];
  readonly breaker: PlanBreaker | null;
  readonly budget: PlanBudget | null;
  readonly wait: PlanWait;
  readonly cleanup: PlanCleanup;
  /** Null: nothing to reconcile. */
  readonly settleMs: number | null;
}

/** What the machine itself must know of an item. */
export interface RunItemSpec {
  readonly key: string;
  readonly priority: number;
  readonly hasVerify: boolean;
  readonly workingMs: number | null;
}

export interface RunBirth {
  readonly runId: RunId;
  readonly userId: UserId;
  readonly name: string;
  readonly planHash: string;
  readonly rules: RunRules;
  readonly items: readonly RunItemSpec[];
}

/** How an attempt is going to end, once the agent rests. */
export interface Ending {
  readonly outcome: Outcome;
  readonly failureClass: FailureClass | null;
  readonly detail: string | null;
}

export interface RunItem {
  readonly key: string;
  readonly priority: number;
  readonly hasVerify: boolean;
  readonly workingMs: number | null;
  readonly phase: ItemPhase;
  /** Attempts begun, from 1 with the first admission. */
  readonly attempt: number;
  /** Failures so far by class: retry rules count per class. */
  readonly failures: Readonly<Partial<Record<FailureClass, number>>>;
  readonly conversationId: ConversationId | null;
  /** Conversations of earlier attempts: they still send notices, which are not about the present one. */
  readonly past: readonly ConversationId[];
  /** Sequence of the newest notice accepted of that conversation. */
  readonly noticed: number;
  readonly sandboxId: SandboxId | null;
  readonly sandboxStatus: SandboxStatus | null;
  readonly executionStatus: ExecutionStatus | null;
  readonly awaiting: string | null;
  readonly ending: Ending | null;
  /** Cost of all attempts so far, integer nano-USD. */
  readonly costNanoUsd: number;
  readonly admittedAt: number | null;
  readonly workingSince: number | null;
  readonly endedAt: number | null;
  /** A retry waits until then; null for at once. */
  readonly notBefore: number | null;
  /** The agent was told to stop; collected by then even if nobody answers. */
  readonly stopBy: number | null;
  readonly continued: number;
  readonly limitReached: LimitReached | null;
}

/** A sandbox that conversations of this run used, until it is gone or left to its user. */
export interface UsedSandbox {
  readonly sandboxId: SandboxId;
  readonly state: 'used' | 'asked' | 'gone' | 'kept';
  /** The clean-up that has not been answered; null when none is out. */
  readonly awaiting: string | null;
}

/** Where the items stand. It follows from the items; core/run/standing.ts keeps it. */
export interface Standing {
  /** Items that wait, by index, in the order in which they may begin: highest priority first, then plan order. */
  readonly waiting: readonly number[];
  /** Items in flight, by index, ascending. */
  readonly inFlight: readonly number[];
  readonly ended: Readonly<Partial<Record<Outcome, number>>>;
}

export interface RunState {
  readonly version: 1;
  readonly commandCount: number;
  readonly runId: RunId;
  readonly userId: UserId;
  readonly name: string;
  readonly planHash: string;
  readonly rules: RunRules;
  readonly phase: RunPhase;
  readonly mode: RunMode;
  readonly reason: string | null;
  readonly sequence: number;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly items: readonly RunItem[];
  /** Absent until an item first changes, and in states that older versions stored. */
  readonly standing?: Standing | undefined;
  readonly sandboxes: readonly UsedSandbox[];
  readonly spentNanoUsd: number;
  /** Instants of failures that the breaker counts, oldest first, bounded by its count. */
  readonly breakerHits: readonly number[];
  readonly awaiting: string | null;
  /** Past it the run goes on without having heard of every sandbox it let go; null outside `cleaning`. */
  readonly cleanBy: number | null;
  readonly settleAt: number | null;
  readonly reconciliation: ReconciliationSummary | null;
  readonly reconcileError: string | null;
  readonly seen: SeenRequests;
}

export function bornRun(birth: RunBirth, now: number): RunState {
  return {
    version: 1,
    commandCount: 0,
    runId: birth.runId,
    userId: birth.userId,
    name: birth.name,
    planHash: birth.planHash,
    rules: birth.rules,
    phase: 'running',
    mode: 'normal',
    reason: null,
    sequence: 0,
    createdAt: now,
    endedAt: null,
    items: birth.items.map(bornItem),
    standing: undefined,
    sandboxes: [],
    spentNanoUsd: 0,
    breakerHits: [],
    awaiting: null,
    cleanBy: null,
    settleAt: null,
    reconciliation: null,
    reconcileError: null,
    seen: [],
  };
}

/**
 * A copy to write on. The fields are written out, in one order: an engine reads objects of one shape much faster than
 * those that a spread makes, and a field that is forgotten here does not compile.
 */
export function copyRun(state: RunState): Mutable<RunState> {
  return {
    version: state.version,
    commandCount: state.commandCount,
    runId: state.runId,
    userId: state.userId,
    name: state.name,
    planHash: state.planHash,
    rules: state.rules,
    phase: state.phase,
    mode: state.mode,
    reason: state.reason,
    sequence: state.sequence,
    createdAt: state.createdAt,
    endedAt: state.endedAt,
    items: state.items,
    standing: state.standing,
    sandboxes: state.sandboxes,
    spentNanoUsd: state.spentNanoUsd,
    breakerHits: state.breakerHits,
    awaiting: state.awaiting,
    cleanBy: state.cleanBy,
    settleAt: state.settleAt,
    reconciliation: state.reconciliation,
    reconcileError: state.reconcileError,
    seen: state.seen,
  };
}

function bornItem(spec: RunItemSpec): RunItem {
  return {
    ...spec,
    phase: 'waiting',
    attempt: 0,
    failures: {},
    conversationId: null,
    past: [],
    noticed: -1,
    sandboxId: null,
    sandboxStatus: null,
    executionStatus: null,
    awaiting: null,
    ending: null,
    costNanoUsd: 0,
    admittedAt: null,
    workingSince: null,
    endedAt: null,
    notBefore: null,
    stopBy: null,
    continued: 0,
    limitReached: null,
  };
}

/** The machine's share of a plan. */
export function runBirth(plan: Plan, ids: { readonly runId: RunId; readonly userId: UserId }): RunBirth {
  const { strategy, sandboxId } = plan.placement;
  return {
    ...ids,
    name: plan.name,
    planHash: plan.hash,
    rules: {
      concurrency: plan.admission.concurrency,
      // Unless the job says otherwise, the user's own setting may group.
      sharesSandboxes: sandboxId !== null || strategy !== 'NO_GROUPING',
      explicitSandboxId: sandboxId === null ? null : asSandboxId(sandboxId),
      retry: plan.retry,
      breaker: plan.breaker,
      budget: plan.budget,
      wait: plan.wait,
      cleanup: plan.cleanup,
      settleMs: plan.reconcile?.settleMs ?? null,
    },
    items: plan.items.map((item) => ({
      key: item.key,
      priority: item.priority,
      hasVerify: item.verify !== null,
      workingMs: item.limits.workingMs,
    })),
  };
}

export function isInFlight(item: RunItem): boolean {
  return item.phase !== 'waiting' && item.phase !== 'ended';
}

export function countBy(items: readonly RunItem[], test: (item: RunItem) => boolean): number {
  let count = 0;
  for (const item of items) if (test(item)) count += 1;
  return count;
}
