/**
 * What reconciliation is given and what it says (D27).
 * Owns shapes; must not join anything.
 */
import type { ConversationId } from './ids.ts';
import type { NanoUsd } from './money.ts';
import type { GatewayRow, SpendRow } from './spend.ts';

/** A conversation as far as rows can be joined with it. */
export interface ReconcileConversation {
  readonly conversationId: ConversationId;
  /** Key of its item in the run; null outside a run. */
  readonly key: string | null;
  readonly tags: Readonly<Record<string, string>>;
  /** Every name its model goes by: the one the caller used and the ones that are sent and billed upstream. */
  readonly modelNames: readonly string[];
  /** When it could have called a model, epoch milliseconds by our clock; an open end is still going on. */
  readonly windows: readonly { readonly startedAt: number; readonly endedAt: number | null }[];
  /** When it ended, by our clock: what begins later is late. Null while it goes on; left out, its last window's end. */
  readonly endedAt?: number | null;
  /** Ids of its attempts, as its spend metadata carries them. */
  readonly attemptIds: readonly string[];
}

/** Everything but the rows of either side. */
export interface ReconcileRules {
  readonly conversations: readonly ReconcileConversation[];
  /** Only with header forwarding does spend metadata reach the gateway, so only then may it be believed. */
  readonly isForwarding: boolean;
  /** Tolerance before and after a conversation's windows. */
  readonly windowBeforeMs: number;
  readonly windowAfterMs: number;
  readonly ambiguous: 'keep' | 'split_by_tokens';
  /** A name of a model that the gateway bills → the name under which our proxy knows it. */
  readonly modelAliases?: Readonly<Record<string, string>>;
}

export interface ReconcileQuestion extends ReconcileRules {
  readonly gatewayRows: readonly GatewayRow[];
  readonly spendRows: readonly SpendRow[];
}

/** A part of an ambiguous amount that an estimate gives to a conversation. */
export interface EstimatedShare {
  readonly conversationId: ConversationId;
  readonly cost: NanoUsd;
}

interface VerdictBase {
  /** Position of the row in the export, counted from 1. */
  readonly position: number;
  readonly cost: NanoUsd;
  /** The same response id was billed before: the amount counts, and somebody should ask why. */
  readonly isDuplicate: boolean;
}

export type RowVerdict =
  | (VerdictBase & {
      readonly kind: 'assigned';
      readonly by: 'response_id' | 'session' | 'window';
      readonly conversationId: ConversationId;
      /** Begun after its conversation had ended: by our call's clock where there is one, else by theirs less the skew. */
      readonly isLate: boolean;
    })
  | (VerdictBase & {
      readonly kind: 'ambiguous';
      /** At most CANDIDATES_MAX of them. */
      readonly candidates: readonly ConversationId[];
      /** True when there are more than those listed: such a row is never split. */
      readonly isTruncated: boolean;
      /** Empty unless the split was asked for; sums to `cost` then. */
      readonly estimated: readonly EstimatedShare[];
    })
  | (VerdictBase & {
      readonly kind: 'unassigned';
      /** `other_caller`: our proxy sent it, for nobody among these conversations. */
      readonly why: 'other_caller' | 'no_candidate';
    });

export interface ConversationTotal {
  readonly conversationId: ConversationId;
  readonly key: string | null;
  readonly rows: number;
  readonly assigned: NanoUsd;
  /** Its part of ambiguous rows, when they were split; an estimate, and no part of `assigned`. */
  readonly estimated: NanoUsd;
}

/** What falls on one model, user, team or value of a tag, in both directions. */
export interface ReconcileGroup {
  /** Null where neither side says. */
  readonly name: string | null;
  readonly rows: number;
  /** Rows without a price, which are in no amount. */
  readonly unpriced: number;
  readonly assigned: NanoUsd;
  readonly ambiguous: NanoUsd;
  readonly unassigned: NanoUsd;
  /** Calls of these conversations that succeeded and that nobody billed. */
  readonly unbilledCalls: number;
}

/** Each list sums to the totals; the largest amount first. At most GROUPS_MAX names each, the rest under one. */
export interface ReconcileBreakdown {
  readonly byModel: readonly ReconcileGroup[];
  readonly byUser: readonly ReconcileGroup[];
  readonly byTeam: readonly ReconcileGroup[];
  /** By the value of each tag that any conversation has. */
  readonly byTag: Readonly<Record<string, readonly ReconcileGroup[]>>;
}

export interface Reconciliation extends ReconcileSums {
  /** One per gateway row, in the order of the rows. */
  readonly verdicts: readonly RowVerdict[];
}

/** What reconciliation says of all rows together. */
export interface ReconcileSums {
  /** One per conversation, in the order they were given. */
  readonly conversations: readonly ConversationTotal[];
  /** assigned + ambiguous + unassigned = total, to the nano-USD. */
  readonly total: NanoUsd;
  readonly assigned: NanoUsd;
  readonly ambiguous: NanoUsd;
  readonly unassigned: NanoUsd;
  /** What of `ambiguous` was split among conversations. */
  readonly estimated: NanoUsd;
  readonly counts: ReconcileCounts;
  /** Calls of these conversations that succeeded and that nobody billed: at most UNBILLED_SHOWN_MAX of their ids. */
  readonly unbilledCalls: readonly string[];
  readonly breakdown: ReconcileBreakdown;
  /** How far the gateway's clock is ahead of ours; null when no row was joined by response id. */
  readonly clockSkewMs: number | null;
}

export interface ReconcileCounts {
  readonly rows: number;
  readonly byResponseId: number;
  readonly bySession: number;
  readonly byWindow: number;
  readonly ambiguous: number;
  readonly unassigned: number;
  readonly duplicates: number;
  readonly late: number;
  /** Rows whose price nobody knows; they are joined, and are in no amount. */
  readonly unpriced: number;
  readonly unbilled: number;
  readonly conversationsWithoutRows: number;
}
