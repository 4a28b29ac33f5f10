/**
 * The rules of a run, as its machine has them from the plan and the deployment.
 * Owns their shape; must not decide anything.
 */
import type { SandboxId } from '../ids.ts';
import type { HostPin } from '../placement/choose-host.ts';
import type { PlanPool } from '../placement/place-in-pool.ts';
import type {
  PlanAdaptive,
  PlanBreaker,
  PlanBudget,
  PlanCleanup,
  PlanRetryRule,
  PlanWait,
} from '../plan/plan.ts';
import type { GroupingStrategy } from '../status.ts';

/** The rules of a run, taken from its plan; texts and secrets stay in the plan, by reference. */
export interface RunRules {
  readonly concurrency: number;
  /** Starts are this far apart at least; absent for no such rule. */
  readonly startEveryMs?: number | undefined;
  /** The first wave is spread over this time; absent for no such rule. */
  readonly rampMs?: number | undefined;
  readonly adaptive?: PlanAdaptive | undefined;
  /** Bounds of the slots that items name; absent when none does. */
  readonly slots?: Readonly<Record<string, number>> | undefined;
  /** So many items begin first; the others only if all of these succeeded. */
  readonly canary?: number | undefined;
  /** False when every conversation has a sandbox of its own: it can go as soon as its item has ended. */
  readonly sharesSandboxes: boolean;
  /** Its user's own setting as the run began, where the job says nothing (D29); absent where it does. */
  readonly strategy?: GroupingStrategy | undefined;
  /** What the deployment had room for as the run began (D29); absent: the run does not know. */
  readonly capacity?: RunCapacity | undefined;
  /** Sandboxes that the run keeps for itself; absent when it has none. */
  readonly pool?: PlanPool | undefined;
  /** What the host of those must be that are made ahead; absent: any will do. */
  readonly poolHost?: HostPin | undefined;
  /** A sandbox that the job names belongs to its user: a run never removes it. */
  readonly explicitSandboxId: SandboxId | null;
  readonly retry: readonly PlanRetryRule[];
  readonly breaker: PlanBreaker | null;
  readonly budget: PlanBudget | null;
  readonly wait: PlanWait;
  readonly cleanup: PlanCleanup;
  /** Null: nothing to reconcile. */
  readonly settleMs: number | null;
  /** What is done after the report, in this order; absent for nothing. */
  readonly finally?: readonly LastStepRule[] | undefined;
  /** Items of one shard; absent when the run hosts its items itself. */
  readonly shardItems?: number | undefined;
  /**
   * Shards hear that the run has finished also when items of it failed. Absent in runs that older builds began: one
   * order more would give every later one another id, by which a driver knows it again.
   */
  readonly shardsRest?: true;
}

/** How many slots there can be for one user, and how many conversations a sandbox takes. */
export interface RunCapacity {
  readonly slotsMax: number;
  readonly perSandboxMax: number;
}

/** What the machine must know of a step after the report; what it does is in the plan. */
export interface LastStepRule {
  /** Past it the run goes on without it. */
  readonly timeoutMs: number;
}
