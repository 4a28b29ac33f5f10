/**
 * What a run machine remembers of one batch job.
 * Owns the state's shape; its first value is in core/run/init.ts. Must not own a transition.
 */
import type { ConversationId, RunId, SandboxId, UserId } from '../ids.ts';
import type { ItemRules } from '../plan/item-rules.ts';
import type { ItemPhase, ReconciliationSummary, RunMode, RunPhase } from '../machine/projection.ts';
import type { PlanNeed, PlanWhole } from '../plan/plan.ts';
import type { SeenRequests } from '../machine/requests.ts';
import type { LimitReached } from '../machine/snapshot.ts';
import type { ExecutionStatus, FailureClass, Outcome, SandboxStatus } from '../status.ts';
import type { RunRules } from './rules.ts';
import type { UsedSandbox } from './items/used-sandbox.ts';

/** In the order in which a run goes through them. */
export const RUN_PHASES = [
  'running',
  'cleaning',
  'settling',
  'reconciling',
  'reporting',
  'closing',
  'finished',
] as const satisfies readonly RunPhase[];

/** What the machine itself must know of an item. */
export interface RunItemSpec {
  readonly key: string;
  readonly priority: number;
  readonly hasVerify: boolean;
  readonly workingMs: number | null;
  /** Slots it takes while it is in flight; absent when none. */
  readonly slots?: readonly SlotUse[];
  /** Groups that it belongs to, and that others may wait for. */
  readonly groups?: readonly number[];
  readonly needs?: readonly ItemNeed[];
  /** It comes later than its run: it does not begin before; absent: it is there from the beginning. */
  readonly notBefore?: number | null;
  /** Rules of its own; null where an amended plan took them away, absent where it never had any. */
  readonly own?: ItemRules | null | undefined;
  /** Copies that are judged as one; absent: by itself. */
  readonly whole?: PlanWhole;
}

/** One place of the slots of a keyed limit: `slot` names the bound, `value` whose places are counted. */
export interface SlotUse {
  readonly slot: string;
  readonly value: string;
}

/** A group of items that must have ended before this one begins. */
export interface ItemNeed {
  readonly group: number;
  readonly outcome: PlanNeed['outcome'];
  /** The entry as the job names it, for people. */
  readonly entry: string;
}

/** The machine's share of a plan, as it is when the run begins. */
export interface RunSpec {
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
  /** The host of its sandbox was given up: that takes no try (D33); absent otherwise. */
  readonly isHostLost?: true;
}

/** An item of the plan, and how far it is. */
export interface RunItem extends RunItemSpec {
  readonly phase: ItemPhase;
  /** Attempts begun, from 1 with the first admission. */
  readonly attempt: number;
  /** Failures so far by class: retry rules count per class. */
  readonly failures: Readonly<Partial<Record<FailureClass, number>>>;
  /** Attempts that ended because a host was given up, and took no try; absent: none. */
  readonly hostsLost?: number | undefined;
  readonly conversationId: ConversationId | null;
  /** Conversations of earlier attempts: they still send notices, which are not about the present one. */
  readonly past: readonly ConversationId[];
  /** Sequence of the newest notice accepted of that conversation. */
  readonly noticed: number;
  readonly sandboxId: SandboxId | null;
  readonly sandboxStatus: SandboxStatus | null;
  readonly executionStatus: ExecutionStatus | null;
  readonly awaiting: string | null;
  /** Its conversation waits for a slot, and who has them (D29); absent otherwise. */
  readonly waitsFor?: string | undefined;
  readonly ending: Ending | null;
  /** Cost of all attempts so far, integer nano-USD. */
  readonly costNanoUsd: number;
  readonly admittedAt: number | null;
  /** Since when the clock of the working time runs; null while it stands. */
  readonly workingSince: number | null;
  /** What it counted before; absent in states that older versions stored. */
  readonly workedMs?: number;
  /** By how much the clock was set since it was admitted: its deadline is so much later (D36); absent: not at all. */
  readonly skippedMs?: number | undefined;
  readonly endedAt: number | null;
  /** A retry waits until then; null for at once. */
  readonly notBefore: number | null;
  /** The agent was requested to stop; collected by then even without an answer. */
  readonly stopBy: number | null;
  readonly continued: number;
  readonly limitReached: LimitReached | null;
  /** Hash of the amended plan that has its specification; absent: the plan that the run was begun with. */
  readonly plan?: string | undefined;
  /** What it takes over with its next attempt: the plan was amended while this one was in flight. */
  readonly next?: Pick<RunItem, 'hasVerify' | 'workingMs' | 'own' | 'plan'> | undefined;
  /** Others have taken its place: it never waits again. */
  readonly isReplaced?: true;
  /** In a shard: which directive of its run about this item was the newest; absent before the first. */
  readonly revision?: number;
}

/** Which items of its run a shard leads. */
export interface Slice {
  readonly number: number;
  /** Index of its first item among those of the run. */
  readonly from: number;
}

/** Where the items stand. It follows from the items; core/run/items-by-phase.ts keeps it. */
export interface ItemsByPhase {
  /** Items that wait, by index, in the order in which they may begin: highest priority first, then plan order. */
  readonly waiting: readonly number[];
  /** Items in flight, by index, ascending. */
  readonly inFlight: readonly number[];
  readonly ended: Readonly<Partial<Record<Outcome, number>>>;
  /** By number of the group; absent when no item waits for others. */
  readonly groups?: readonly GroupCounts[] | undefined;
}

export interface GroupCounts {
  /** Items of it that have not ended. */
  readonly open: number;
  /** Items of it that have ended otherwise than well; one that was not needed has ended well. */
  readonly unsuccessful: number;
}

/** What paces the starts of a run, beside its rules. */
export interface Pace {
  /** Where the ramp began. */
  readonly rampFrom: number;
  readonly lastStartAt: number | null;
  /** Places that the adaptive limit leaves; null while it leaves all. */
  readonly places: number | null;
  readonly loweredAt: number | null;
  /** Attempts that ended since the last failure of its classes, or since a place was given back. */
  readonly calm: number;
  /** How many items the canary still lets begin; null when there is none, or it was a success. */
  readonly canary: number | null;
  /** That the soft limit of the budget is passed was recorded. */
  readonly saidSoft: boolean;
  /** What kept the next item from beginning at the latest check; null when none waits. */
  readonly heldBy: string | null;
  /** When to check again, in epoch milliseconds; null when only an event can help. */
  readonly heldUntil: number | null;
}

/** The whole state of the machine of a run; stored after each step, and read again by later builds. */
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
  readonly byPhase?: ItemsByPhase | undefined;
  readonly sandboxes: readonly UsedSandbox[];
  readonly spentNanoUsd: number;
  /** Instants of failures that the breaker counts, oldest first, bounded by its count. */
  readonly breakerHits: readonly number[];
  /** The breaker is open; absent while it is closed, and for one that holds the run. */
  readonly trip?: Trip | undefined;
  /** Absent in states that older versions stored. */
  readonly pace?: Pace | undefined;
  readonly awaiting: string | null;
  /** The order that makes the sandboxes of the pool ahead, until it is answered; absent at any other time. */
  readonly warming?: string | undefined;
  /** Past it the run goes on without a notice of the end of every sandbox it released; null outside `cleaning`. */
  readonly cleanBy: number | null;
  readonly settleAt: number | null;
  readonly reconciliation: ReconciliationSummary | null;
  readonly reconcileError: string | null;
  /** Which of its last steps it is at, and until when; absent outside `closing`. */
  readonly closing?: { readonly step: number; readonly by: number } | undefined;
  readonly seen: SeenRequests;
  /** Of each shard, whether it has reported that it is there; absent when the run leads its items itself. */
  readonly shards?: readonly boolean[] | undefined;
  /** Only in a shard, which is a run of a few items that another one admits. */
  readonly slice?: Slice | undefined;
}

/** By its index in the plan, in the run or in a shard. */
export function itemAt(state: Pick<RunState, 'items' | 'slice'>, index: number): RunItem | undefined {
  return state.items[positionOf(state, index)];
}

/** The position of the item with this index in the plan, in the run or in this shard. */
export function positionOf({ slice }: Pick<RunState, 'slice'>, index: number): number {
  return index - (slice?.from ?? 0);
}

/** The index in the plan of the item at this position of the run or of this shard. */
export function indexAt({ slice }: Pick<RunState, 'slice'>, position: number): number {
  return position + (slice?.from ?? 0);
}

/** Whether it has begun and not ended. */
export function isInFlight(item: RunItem): boolean {
  return item.phase !== 'waiting' && item.phase !== 'ended';
}

/** Items that pass a test. */
export function countBy(items: readonly RunItem[], test: (item: RunItem) => boolean): number {
  let count = 0;
  for (const item of items) if (test(item)) count += 1;
  return count;
}

/** A breaker that closes by itself, while it is open. */
interface Trip {
  /** Nothing begins before. */
  readonly until: number;
  /** Since when probes begin; null while nothing does. */
  readonly probingSince: number | null;
  /** Probes that went well. */
  readonly passed: number;
}
