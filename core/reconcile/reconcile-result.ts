/**
 * The input of a reconciliation and its result (D27).
 * Owns shapes; must not join anything.
 */
import type { ConversationId } from '../ids.ts';
import type { NanoUsd } from '../money/money.ts';
import type { GatewayRow, SpendRow } from '../money/spend.ts';
import type { UsdSum } from '../money/usd-sum.ts';

/** A conversation as far as rows can be joined with it. */
export interface ReconcileConversation {
  readonly conversationId: ConversationId;
  /** Key of its item in the run; null outside a run. */
  readonly key: string | null;
  readonly tags: Readonly<Record<string, string>>;
  /** When it ended, by our clock: what begins later is late. Null while it goes on; left out, its last call's end. */
  readonly endedAt?: number | null;
  /** Ids of its attempts, as its spend metadata carries them. */
  readonly attemptIds: readonly string[];
}

/** Everything but the rows of either side. */
export interface ReconcileRules {
  readonly conversations: readonly ReconcileConversation[];
  /** Only with header forwarding does spend metadata reach the gateway, so only then is it trusted. */
  readonly isForwarding: boolean;
  /** How long before and after a call a row of it may begin. */
  readonly windowBeforeMs: number;
  readonly windowAfterMs: number;
  readonly ambiguous: 'keep' | 'split_by_tokens';
  /** When the bill was read: what ended later is on the next one. Left out, the bill came after all calls. */
  readonly billReadAt?: number;
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
  /** Billed before, by its response id or because no call is left for it: the amount counts, and needs a check. */
  readonly isDuplicate: boolean;
}

/** The part of a row that is needed once its ids are resolved. */
export type JudgedRow = Omit<GatewayRow, 'sessionId' | 'metadataSessionId' | 'tags' | 'keyName'>;

/** The conversation that one row of a bill belongs to, and how that was found. */
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
      readonly why: AmbiguousWhy;
      /** At most CANDIDATES_MAX of them. */
      readonly candidates: readonly ConversationId[];
      /** True when there are more than those listed: such a row is never split. */
      readonly isTruncated: boolean;
      /** Empty unless the split was requested; sums to `cost` then. */
      readonly estimated: readonly EstimatedShare[];
    })
  | (VerdictBase & {
      readonly kind: 'unassigned';
      readonly why: UnassignedWhy;
    });

/**
 * `several`: conversations could have caused it. `crowded`: its window has more rows than open calls. `clock_unknown`:
 * no row was joined by response id, so that time proves nothing (D35). `other_callers`: a call of another caller of our
 * proxy fits as well. `time_alone`: it is probably the one candidate's, but it may bill the call of another
 * conversation again, or the bill has rows of others and only its time and model set it apart from them.
 */
export type AmbiguousWhy = 'several' | 'crowded' | 'clock_unknown' | 'other_callers' | 'time_alone';

/**
 * `other_caller`: our proxy sent it, for none of these conversations. `foreign`: it has an id, and it is that of no
 * call of ours. `no_candidate`: no call of ours fits.
 */
export type UnassignedWhy = 'other_caller' | 'foreign' | 'no_candidate';

/** What the bill has for one conversation, beside what was recorded. */
export interface ConversationTotal {
  readonly conversationId: ConversationId;
  readonly key: string | null;
  readonly rows: number;
  readonly assigned: UsdSum;
  /** Its part of ambiguous rows, when they were split; an estimate, and no part of `assigned`. */
  readonly estimated: UsdSum;
}

/** The costs of one model, user, team or value of a tag, in both directions. */
export interface ReconcileGroup {
  /** Null where neither side names one. */
  readonly name: string | null;
  readonly rows: number;
  /** Rows without a price, which are in no amount. */
  readonly unpriced: number;
  readonly assigned: UsdSum;
  readonly ambiguous: UsdSum;
  readonly unassigned: UsdSum;
  /** Calls of these conversations that succeeded and were not billed. */
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

/** The result for all rows together. */
export interface ReconcileSums {
  /** One per conversation, in the order they were given. */
  readonly conversations: readonly ConversationTotal[];
  /** assigned + ambiguous + unassigned = total, to the nano-USD. */
  readonly total: UsdSum;
  readonly assigned: UsdSum;
  readonly ambiguous: UsdSum;
  readonly unassigned: UsdSum;
  /** What of `ambiguous` was split among conversations. */
  readonly estimated: UsdSum;
  readonly counts: ReconcileCounts;
  /** Calls of these conversations that succeeded and are on no bill: at most UNBILLED_SHOWN_MAX of their ids. */
  readonly unbilledCalls: readonly string[];
  readonly breakdown: ReconcileBreakdown;
  /** How far the gateway's clock is ahead of ours; null when no row was joined by response id. */
  readonly clockSkewMs: number | null;
  /** Each clock of the export by how far it is ahead; none when time proves nothing, because clocks differ too much. */
  readonly clocksMs: readonly number[];
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
  /** Rows without a known price; they are joined, and are in no amount. */
  readonly unpriced: number;
  readonly unbilled: number;
  /** Rows with an id, and the id is that of no call of ours. */
  readonly foreign: number;
  readonly conversationsWithoutRows: number;
}
