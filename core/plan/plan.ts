/**
 * The plan: what a job file compiles to, and everything a run will do (D-free words: see docs/glossary.md).
 * Immutable JSON; owns the shape and nothing else. `run` consumes only this, never YAML.
 */
import type { PlanAgent } from './plan-agent.ts';
import type { PlanAwaited } from './plan-awaited.ts';
import type { PlanScore, PlanVerify } from './plan-check.ts';
import type { PlanIssue, PlanIssues } from './plan-issue.ts';
import type { PlanDeliver } from './plan-deliver.ts';
import type { PlanPlugin, PlanRepository } from './plan-repository.ts';
import type { PlanSetup } from './plan-setup.ts';
import type { Observability } from '../observability.ts';
import type { HostLabels } from '../placement/choose-host.ts';
import type { PlanPool } from '../placement/place-in-pool.ts';
import type { ExecutionStatus, FailureClass, GroupingStrategy } from '../status.ts';

/** A secret by reference; the value is opened only inside an activity (D20). */
export type SecretReference =
  | { readonly from: 'env'; readonly name: string }
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'store'; readonly name: string };

/** One conversation of the batch, fully resolved. */
export interface PlanItem {
  /** Unique in the plan, `[A-Za-z0-9._/-]{1,200}`: artefact folder, tag and spend-join key. */
  readonly key: string;
  /** The `id` of the conversation entry this item came from. */
  readonly entry: string;
  /** The issue it is about; absent for any other row, and for none. */
  readonly issue?: PlanIssue;
  /** Axis values of the matrix, as source text. */
  readonly matrix: Readonly<Record<string, string>>;
  readonly prompt: string;
  readonly repository: PlanRepository | null;
  /** Model name as the proxy lists it. */
  readonly model: string;
  readonly tags: Readonly<Record<string, string>>;
  /** What its trace carries (D21); absent for nothing. */
  readonly observability?: Observability;
  /** Environment name → job secret name. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly verify: PlanVerify | null;
  /** Absent for none. */
  readonly scores?: readonly PlanScore[];
  readonly setup?: PlanSetup;
  readonly limits: PlanItemLimits;
  readonly priority: number;
  /** Items with the same value share sandboxes of the pool; absent for none. */
  readonly affinity?: string;
  /** From 1, where the entry is repeated; absent otherwise. */
  readonly repeat?: number;
  /** When the agent asks before it acts; absent means never. */
  readonly confirmation?: 'never' | 'risky' | 'always';
  readonly plugins?: readonly PlanPlugin[];
  /** Absent: the deployment's. */
  readonly agent?: PlanAgent;
  /** In place of the run's; absent where it has those of the run. */
  readonly retry?: readonly PlanRetryRule[];
  readonly wait?: PlanWait;
  readonly collect?: readonly CollectStep[];
  /** Absent when it needs no other entry. */
  readonly needs?: readonly PlanNeed[];
  /** It is no conversation: others take its place once the rows are known that an earlier stage writes. */
  readonly awaits?: PlanAwaited;
  /** Position in the plan, from 0: breaks every tie. */
  readonly index: number;
  /** SHA-256 of the canonical JSON of the fields above except `index`. */
  readonly specHash: string;
  /** Copies that are judged as one; absent: each by itself. How they are judged makes none of them another one. */
  readonly whole?: PlanWhole;
}

/** Which copies are one item as a whole, by the key of the first, and how many of them have to succeed. */
export interface PlanWhole {
  readonly key: string;
  readonly rule: 'any' | 'majority';
}

/** Limits of one item; reaching one is an outcome, not an error (D28). None of them sets an idle or deletion limit (D10). */
export interface PlanItemLimits {
  /** Working time: boot, queueing and pauses excluded. Null for none. */
  readonly workingMs: number | null;
  /** Agent iterations. */
  readonly turns: number | null;
  /** Integer nano-USD. */
  readonly nanoUsd: number | null;
}

/** How a conversation finds its sandbox. */
export interface PlanPlacement {
  /** Null: the user's own setting decides (D16). */
  readonly strategy: GroupingStrategy | null;
  /** Explicit sandbox; overrides the strategy. */
  readonly sandboxId: string | null;
  /** Sandboxes that the run keeps for itself; absent when it has none. */
  readonly pool?: PlanPool;
  /** The host of its sandboxes; absent: any. */
  readonly host?: string;
  /** Each of them must be a label of the host, with this value; absent: any host. */
  readonly labels?: HostLabels;
}

/** What limits how items begin. A rule that the job does not write is absent, so that the plan's hash stays. */
export interface PlanAdmission {
  /** Conversations in flight at once, at least 1. */
  readonly concurrency: number;
  /** At most so many in flight with an equal value. */
  readonly per?: readonly PlanKeyedLimit[];
  /** Starts are this far apart at least, in milliseconds. */
  readonly startEveryMs?: number;
  /** The first wave is spread over this time. */
  readonly rampMs?: number;
  readonly adaptive?: PlanAdaptive;
  /** Highest priority first when absent; ties by position in the plan. */
  readonly order?: PlanOrder;
  /** So many begin first; the others only if all of these succeeded. */
  readonly canary?: number;
}

/** A limit for each value of a field, or for one value of it. */
export interface PlanKeyedLimit {
  readonly field: 'repo' | 'model' | 'entry' | 'tags' | 'matrix';
  /** The tag or axis; null for the other fields. */
  readonly name: string | null;
  /** Null: each value has its own count. */
  readonly value: string | null;
  readonly max: number;
}

/** Halves the places on failures of these classes, and gives them back one by one. */
export interface PlanAdaptive {
  readonly on: readonly FailureClass[];
  /** Never fewer places than this, at least 1. */
  readonly min: number;
}

export type PlanOrder = { readonly by: 'position' } | { readonly by: 'shuffle'; readonly seed: number };

/** An item begins only after all items of another entry have ended, and ended well enough. */
export interface PlanNeed {
  /** Id of the conversation entry that is waited for. */
  readonly entry: string;
  /** `succeeded`: otherwise the item is skipped; `failed`: otherwise it is not needed; `ended`: however they ended. */
  readonly outcome: 'succeeded' | 'failed' | 'ended';
  /** True: only its items with the same values on the axes that both have. */
  readonly each: boolean;
}

/** How often an attempt that failed in one of some ways is made again. */
export interface PlanRetryRule {
  readonly on: readonly FailureClass[];
  /** Extra attempts, at least 0. */
  readonly attempts: number;
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
}

export interface PlanBreaker {
  readonly on: readonly FailureClass[];
  readonly windowMs: number;
  readonly count: number;
  /** Absent: it holds the run until a client resumes it. */
  readonly recover?: PlanRecovery;
}

/** How a breaker closes by itself. */
export interface PlanRecovery {
  /** Nothing begins for so long. */
  readonly afterMs: number;
  /** So many begin then; if they go well, the others follow. At least 1. */
  readonly probes: number;
}

/** What a run may spend. */
export interface PlanBudget {
  readonly nanoUsd: number;
  /** Held per item before admission, settled on its end. */
  readonly reserveNanoUsd: number;
  readonly mode: 'observe' | 'audit' | 'enforce';
  /** What an exceeded budget does to the run in `enforce`; absent: it is paused. */
  readonly onExceeded?: 'drain' | 'cancel';
  /** Spend at which the run reports it, once; absent for none. */
  readonly softNanoUsd?: number;
}

/** When an item's work is over. */
export interface PlanWait {
  readonly until: readonly ExecutionStatus[];
  /** Wall time from an item's admission; null for none. */
  readonly deadlineMs: number | null;
  /** No new event of the agent for this long ends the item as stuck; null for none. */
  readonly noProgressMs: number | null;
  /** What becomes of work that the session limit cut off (D15). */
  readonly onSessionLimit: 'resume' | 'stop';
}

/** One thing that is kept of a conversation's work. */
export type CollectStep =
  | { readonly kind: 'trajectory' }
  | { readonly kind: 'diff' }
  | { readonly kind: 'files'; readonly globs: readonly string[] }
  | { readonly kind: 'usage' };

export interface PlanCleanup {
  readonly sandbox: 'delete' | 'pause' | 'keep';
  readonly conversation: 'keep' | 'delete';
  /** What becomes of the sandbox when collection failed. */
  readonly onCollectFailure: 'keep' | 'delete';
}

/** Against which bill a run is checked, and what must be true of the result. */
export interface PlanReconcile {
  readonly rows:
    | { readonly from: 'gateway' }
    | { readonly from: 'proxy' }
    | { readonly from: 'file'; readonly path: string };
  /** Waits this long for late rows. */
  readonly settleMs: number;
  readonly windowBeforeMs: number;
  readonly windowAfterMs: number;
  /** What becomes of rows with several candidates (D27). */
  readonly ambiguous: 'keep' | 'split_by_tokens';
  /** Tolerated unmatched amount; null for no check. More than this is exit code 7. */
  readonly unmatchedNanoUsdMax: number | null;
  /** Calls that may stay unbilled; absent for no check. More than this is exit code 7. */
  readonly unbilledMax?: number;
}

/** One report that is written when a run ends. */
export interface PlanReport {
  readonly format: 'markdown' | 'html' | 'jsonl' | 'junit';
  /** File name below the run's folder. */
  readonly file: string;
}

/** Notified when the run has ended, however it ended; steps run one after the other, and change no outcome. */
export interface PlanNotify {
  readonly kind: 'notify';
  /** An address as `WEBHOOK_ADDRESS` has it, or the secret of the job that holds one. */
  readonly to: { readonly url: string } | { readonly secret: string };
  /** Secret of the job that signs the message; null: unsigned. */
  readonly keySecret: string | null;
  /** `{job}`, `{run}`, `{status}`, `{succeeded}`, `{total}` and `{usd}` stand for what they say. */
  readonly text: string;
  /** `failed`: of every run that did not succeed. */
  readonly when: 'always' | 'succeeded' | 'failed';
  /** For all tries together. */
  readonly timeoutMs: number;
}

/** When a job runs by itself; no part of what a run does. */
export interface PlanSchedule {
  /** Expressions of five fields; it fires when one of them says so. */
  readonly cron: readonly string[];
  /** IANA name. */
  readonly timezone: string;
  /** What happens when the run before is still going on. */
  readonly overlap: 'skip' | 'buffer_one' | 'buffer_all' | 'cancel_other' | 'allow_all';
  /** How long ago a run may have been due that is made up for; null: the server's own limit. */
  readonly catchupMs: number | null;
  /** Each run begins later by a random time up to this; null: at once. */
  readonly jitterMs: number | null;
  readonly paused: boolean;
}

/** A compiled job. `hash` covers every other field, and is independent of map order and of file paths. */
export interface Plan {
  readonly format: 1;
  readonly name: string;
  readonly description: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** Effective values of the job's inputs; absent when it has none. Never a secret. */
  readonly inputs?: Readonly<Record<string, string | number | boolean>>;
  readonly secrets: Readonly<Record<string, SecretReference>>;
  readonly items: readonly PlanItem[];
  /** What code hosts answered when the plan was made; absent where none was queried. */
  readonly issues?: readonly PlanIssues[];
  readonly placement: PlanPlacement;
  readonly admission: PlanAdmission;
  readonly budget: PlanBudget | null;
  readonly retry: readonly PlanRetryRule[];
  readonly breaker: PlanBreaker | null;
  readonly wait: PlanWait;
  readonly collect: readonly CollectStep[];
  /** Absent: nothing is pushed. */
  readonly deliver?: PlanDeliver;
  readonly cleanup: PlanCleanup;
  /** Failed items that still count as success, absolute. */
  readonly tolerate: { readonly failed: number };
  readonly reconcile: PlanReconcile | null;
  /** Absent when the job has none. */
  readonly schedule?: PlanSchedule;
  readonly report: readonly PlanReport[];
  /** Absent: no webhook is called. */
  readonly finally?: readonly PlanNotify[];
  readonly hash: string;
}
