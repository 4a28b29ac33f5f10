/**
 * The plan: what a job file compiles to, and everything a run will do (D-free words: see docs/glossary.md).
 * Immutable JSON; owns the shape and nothing else. `run` consumes only this, never YAML.
 */
import type { ExecutionStatus, FailureClass, GroupingStrategy } from './status.ts';

/** A secret by reference; the value is opened only inside an activity (D20). */
export type SecretReference =
  | { readonly from: 'env'; readonly name: string }
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'store'; readonly name: string };

export interface PlanRepository {
  /** `owner/name`, resolved through `code_hosts` of the deployment (D19). */
  readonly name: string;
  readonly branch: string | null;
  /** Provider key in `code_hosts`; null means the deployment's default. */
  readonly host: string | null;
  /** Name of a job secret holding a credential for this host; null for none. */
  readonly tokenSecret: string | null;
}

/** A command run in the sandbox before collection; its exit code decides success (D28). */
export interface PlanVerify {
  readonly command: string;
  readonly timeoutMs: number;
}

/** One conversation of the batch, fully resolved. */
export interface PlanItem {
  /** Unique in the plan, `[A-Za-z0-9._/-]{1,200}`: artefact folder, tag and spend-join key. */
  readonly key: string;
  /** The `id` of the conversation entry this item came from. */
  readonly entry: string;
  /** Axis values of the matrix, as source text. */
  readonly matrix: Readonly<Record<string, string>>;
  readonly prompt: string;
  readonly repository: PlanRepository | null;
  /** Model name as the proxy lists it. */
  readonly model: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Environment name → job secret name. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly verify: PlanVerify | null;
  readonly limits: PlanItemLimits;
  readonly priority: number;
  /** Position in the plan, from 0: breaks every tie. */
  readonly index: number;
  /** SHA-256 of the canonical JSON of the fields above except `index`. */
  readonly specHash: string;
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

export interface PlanPlacement {
  /** Null: the user's own setting decides (D16). */
  readonly strategy: GroupingStrategy | null;
  /** Explicit sandbox; overrides the strategy. */
  readonly sandboxId: string | null;
}

export interface PlanAdmission {
  /** Conversations in flight at once, at least 1. */
  readonly concurrency: number;
}

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
}

export interface PlanBudget {
  readonly nanoUsd: number;
  /** Held per item before admission, settled on its end. */
  readonly reserveNanoUsd: number;
  readonly mode: 'observe' | 'audit' | 'enforce';
}

export interface PlanWait {
  readonly until: readonly ExecutionStatus[];
  /** Wall time from an item's admission; null for none. */
  readonly deadlineMs: number | null;
  /** No new event of the agent for this long ends the item as stuck; null for none. */
  readonly noProgressMs: number | null;
  /** What becomes of work that the session limit cut off (D15). */
  readonly onSessionLimit: 'resume' | 'stop';
}

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
}

export interface PlanReport {
  readonly format: 'markdown' | 'html' | 'jsonl';
  /** File name below the run's folder. */
  readonly file: string;
}

export interface PlanTolerance {
  /** Failed items that still count as success, absolute. */
  readonly failed: number;
}

/** The compiled job. `hash` covers every other field, and is independent of map order and of file paths. */
export interface Plan {
  readonly format: 1;
  readonly name: string;
  readonly description: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, SecretReference>>;
  readonly items: readonly PlanItem[];
  readonly placement: PlanPlacement;
  readonly admission: PlanAdmission;
  readonly budget: PlanBudget | null;
  readonly retry: readonly PlanRetryRule[];
  readonly breaker: PlanBreaker | null;
  readonly wait: PlanWait;
  readonly collect: readonly CollectStep[];
  readonly cleanup: PlanCleanup;
  readonly tolerate: PlanTolerance;
  readonly reconcile: PlanReconcile | null;
  readonly report: readonly PlanReport[];
  readonly hash: string;
}
