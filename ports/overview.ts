/**
 * The state of a whole installation at this moment and its sums over time, for operators.
 * Owns the interface; sums are made where the rows are, every answer has a bound, and `userId` null means all users.
 */
import type { ConversationId, RunId, SandboxId, UserId } from '../core/ids.ts';
import type { NanoUsd } from '../core/money/money.ts';
import type { ConversationRow, SandboxRow } from '../core/machine/projection.ts';
import type { Cursor } from './record-search.ts';

/** A user and the slots taken for its sandboxes. */
export interface SlotHolder {
  readonly userId: UserId;
  readonly taken: number;
}

/** How full the installation is. */
export interface TakenCapacity {
  /** Of all users, the warm pool's included. */
  readonly taken: number;
  /** The user with most comes first, at most 100; of one user when one is named. */
  readonly holders: readonly SlotHolder[];
  /** How many wait in the line, of all users. */
  readonly waiting: number;
}

/** One place in the line for a slot, with what waits there. */
export interface LinePlace {
  /** Grows with every arrival; where a page begins. */
  readonly order: number;
  readonly waiterId: string;
  readonly machine: 'conversation' | 'sandbox';
  readonly userId: UserId;
  /** When it last requested a slot, epoch milliseconds. */
  readonly askedAt: number;
  /** Of the conversation that waits; null for a sandbox. */
  readonly title: string | null;
  readonly runId: RunId | null;
  /** Slots that its user has. */
  readonly takenByUser: number;
}

/** By what spend is grouped. */
export const SPEND_DIMENSIONS = ['model', 'user', 'team', 'tag', 'key'] as const;

/** One of SPEND_DIMENSIONS. */
export type SpendDimension = (typeof SPEND_DIMENSIONS)[number];

/** Names that are groups of their own; all others are one group. */
export const SPEND_GROUPS_MAX = 10;

/** Which calls, in buckets of which length. */
export interface SpendQuestion {
  readonly by: SpendDimension;
  /** Half-open, epoch milliseconds, both whole buckets. */
  readonly from: number;
  readonly to: number;
  readonly bucketMs: number;
  /** Calls of this user's conversations alone. */
  readonly userId: UserId | null;
}

/** What calls add up to. */
export interface SpendSums {
  readonly calls: number;
  /** Calls that ended as `failed`, `cut`, `aborted` or `interrupted`. */
  readonly failed: number;
  /** Calls without a price; they are in no sum of money (D26). */
  readonly unpriced: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cost: NanoUsd;
}

/** `none`: calls without one, such as those of no team; `others`: names beyond the bound. */
export interface SpendBucket extends SpendSums {
  readonly at: number;
  readonly kind: 'named' | 'none' | 'others';
  /** Empty unless it is named. */
  readonly name: string;
}

/** Conversations that lie in a sandbox. */
export interface InsideOfSandbox {
  readonly total: number;
  /** Changed last comes first, at most as many as were requested. */
  readonly newest: readonly { readonly conversationId: ConversationId; readonly row: ConversationRow }[];
}

/** A step behind the end of a run that failed, such as a message that was not taken. */
export interface FailedLastStep {
  readonly runId: RunId;
  readonly name: string;
  readonly detail: string;
  readonly at: number;
}

/** Which failures, and how many at the most. */
export interface FailuresWanted {
  readonly userId: UserId | null;
  /** Epoch milliseconds. */
  readonly since: number;
  /** 1..100 */
  readonly limit: number;
}

/** Sums and lists of the whole installation. */
export interface Overview {
  capacity(wanted: { readonly userId: UserId | null; readonly now: number }): Promise<TakenCapacity>;
  /** In the order of the line. `limit` 1..101 */
  line(page: {
    readonly userId: UserId | null;
    readonly now: number;
    readonly after: Cursor | null;
    readonly limit: number;
  }): Promise<readonly LinePlace[]>;
  /**
   * Ended calls by bucket and group, at most one row for each group and bucket. A call with several tags counts under
   * each; calls that are kept as daily totals alone have no tag and no conversation any more, and stand at the beginning
   * of their UTC day.
   */
  spend(question: SpendQuestion): Promise<readonly SpendBucket[]>;
  /** Conversations in each of these sandboxes of the user, at most 100 sandboxes. */
  insideOf(
    userId: UserId,
    ids: readonly SandboxId[],
    newestMax: number,
  ): Promise<ReadonlyMap<SandboxId, InsideOfSandbox>>;
  /** Newest first, by their last change. */
  failedStarts(wanted: FailuresWanted): Promise<readonly ConversationRow[]>;
  /** Newest first: those in `ERROR`, and those whose runtime was found gone although no request had ended it. */
  failedSandboxes(wanted: FailuresWanted): Promise<readonly SandboxRow[]>;
  failedLastSteps(wanted: FailuresWanted): Promise<readonly FailedLastStep[]>;
}
