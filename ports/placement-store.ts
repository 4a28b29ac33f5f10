/**
 * The one shared decision: which sandbox, and whether there is a slot.
 * Owns the interface; every call is one transaction, so that two starts never take the same last place.
 */
import type { ConversationId, RunId, SandboxId, UserId } from '../core/ids.ts';
import type { ClaimOutcome } from '../core/placement/claim.ts';
import type { PlacementDecision, PlacementRefusal } from '../core/placement/place.ts';
import type { HostPin, HostPolicy } from '../core/placement/choose-host.ts';
import type { TakenSlots, Waiter } from '../core/placement/line.ts';
import type { PoolPlacement } from '../core/placement/place-in-pool.ts';
import type { GroupingStrategy } from '../core/status.ts';

/** Sandboxes up at once. */
export interface CapacityLimits {
  readonly installationMax: number;
  readonly userMax: number;
  readonly conversationsPerSandboxMax: number;
  /** For runtimes whose sandboxes live on one host (D33), which has room of its own; absent: they are bound to none. */
  readonly hosts?: HostPolicy | undefined;
}

/** A conversation that needs a sandbox. */
export interface PlaceRequest {
  readonly conversationId: ConversationId;
  readonly userId: UserId;
  readonly strategy: GroupingStrategy;
  /** Explicit placement overrides the strategy (spec, D16). */
  readonly sandboxId: SandboxId | null;
  /** The pool of the conversation's run; absent when the job has none. */
  readonly pool?: PoolPlacement | undefined;
  /** Sandboxes that refused this conversation before. */
  readonly excluded: readonly SandboxId[];
  /** The place that was refused is given back, and no other is taken. */
  readonly onlyLeaves?: boolean;
  /** A refusal is final: a repeated call gets the same answer. Absent: the conversation may call again. */
  readonly isFinal?: boolean;
  /** Stands in the line for a slot instead of being refused one (D29). */
  readonly waits?: boolean;
  /** Absent outside a run. */
  readonly runId?: RunId;
  /** Id a new sandbox would get. */
  readonly newSandboxId: SandboxId;
  /** One of the warm pool that was found well, to be taken instead of a new one; absent: a new one. */
  readonly warm?: SandboxId;
  /** What the host of a new sandbox must be; absent: any will do. */
  readonly host?: HostPin | undefined;
  readonly limits: CapacityLimits;
  readonly now: number;
}

/** The pool of a run, to be filled up to `size` warm sandboxes. */
export interface PoolToFill {
  readonly poolId: RunId;
  readonly size: number;
}

/**
 * The sandbox that refused the conversation, when placement had made it and no other conversation is in it: it was
 * marked as draining in the same transaction, and the conversation has to delete it (D11). Absent: there is none.
 */
interface LeavesBehind {
  readonly leftBehind?: SandboxId;
  /** It stood in the line and took no slot: the slot is free for the next in line, which has to be notified. */
  readonly leftLine?: true;
}

/** Where the conversation goes, or for what it waits. */
export type PlaceOutcome =
  | (LeavesBehind & {
      readonly kind: 'placed';
      readonly sandboxId: SandboxId;
      readonly created: boolean;
      readonly decision: PlacementDecision;
    })
  | (LeavesBehind & { readonly kind: 'refused'; readonly refusal: PlacementRefusal })
  /** It stands in the line, and is to call again once it is notified that there is room. */
  | (LeavesBehind & { readonly kind: 'waits'; readonly slots: TakenSlots })
  /** Another claim was faster with the warm sandbox: nothing was placed; call again with another or none. */
  | { readonly kind: 'warm_lost' };

/** Whether a slot was granted. */
export type SlotOutcome =
  | { readonly kind: 'granted' }
  | { readonly kind: 'refused'; readonly limit: number; readonly current: number }
  /** As of a placement. */
  | { readonly kind: 'waits'; readonly slots: TakenSlots }
  /** Given up before the transaction ran; nothing was taken. */
  | { readonly kind: 'not_wanted' };

/** As `SlotOutcome`; `sandboxId` is the one of the warm pool that was taken, and absent for a new one. */
export type ReserveOutcome =
  | { readonly kind: 'granted'; readonly sandboxId?: SandboxId }
  | Extract<SlotOutcome, { readonly kind: 'refused' }>
  /** As for a placement. */
  | { readonly kind: 'warm_lost' };

/** Decides places in transactions; the rules are those of `core/placement/`. */
export interface PlacementStore {
  /**
   * Reads the candidates, calls the pure `place`, reserves the attachment (and, for a new sandbox, its record and slot)
   * and records the decision. Idempotent by conversation while the recorded sandbox is not in `excluded`; a sandbox
   * that is there is left first, whatever becomes of the new placement. A final refusal is recorded as well: a call that
   * is made again, or comes late, would otherwise take a place for a conversation that has given up.
   */
  place(request: PlaceRequest): Promise<PlaceOutcome>;
  /**
   * Records a sandbox made through the API, or ahead for a pool, and takes its slot; idempotent by id. Refused with the
   * pool's size when as many of it live. With `warm`, that one of the warm pool is taken instead of a new one, and keeps
   * its own id; a repeat finds it again.
   */
  reserveSandbox(request: {
    readonly sandboxId: SandboxId;
    readonly userId: UserId;
    readonly limits: CapacityLimits;
    readonly now: number;
    readonly pool?: PoolToFill | undefined;
    readonly warm?: SandboxId;
    /** As of a placement. */
    readonly host?: HostPin | undefined;
  }): Promise<ReserveOutcome>;
  /**
   * Takes a slot for a resume; holding one already is success (D17). `not_wanted` when the record says
   * that this generation is not being resumed any more: its answer would come too late to give the slot back.
   */
  reserveSlot(request: {
    readonly sandboxId: SandboxId;
    readonly generation: number;
    readonly userId: UserId;
    /** As of a placement. */
    readonly waits: boolean;
    readonly limits: CapacityLimits;
    readonly now: number;
  }): Promise<SlotOutcome>;
  /**
   * Removes the attachment. When it was the last one of a sandbox that placement created, marks that sandbox as
   * draining in the same transaction, so that nothing is placed there any more (D11). One whose machine never
   * began ends at once, with its slot: no machine would give it back. Idempotent.
   */
  detach(
    conversationId: ConversationId,
  ): Promise<{ readonly sandboxId: SandboxId | null; readonly sandboxToRemove: boolean }>;
  /**
   * Whether every conversation attached to the sandbox belongs to the run. With `toRemove` the sandbox is marked as
   * draining in the same transaction, so that no other conversation is placed there meanwhile. Idempotent. A sandbox of
   * its pool is not given while the item of one of them goes on; with `onlyAtRest` none is while one of its
   * conversations is at work or starts.
   */
  claim(request: {
    readonly sandboxId: SandboxId;
    readonly runId: RunId;
    readonly toRemove: boolean;
    readonly onlyAtRest?: boolean;
  }): Promise<ClaimOutcome>;
  /** The waiters that may have a slot now, in the order of the line: each is to call again. */
  nextInLine(request: { readonly limits: CapacityLimits; readonly now: number }): Promise<readonly Waiter[]>;
  /** The position of each waiter, 1 for the next, by the id of its machine; one whose turn it is has none. */
  positions(request: {
    readonly limits: CapacityLimits;
    readonly now: number;
  }): Promise<ReadonlyMap<string, number>>;
  /**
   * The idle sandbox whose agents rest longest; null when every one is at work (D17), or when as many are on their way
   * down as are wanted: their slots are about to be free. With `hosts`, which are not none, only of those on one of them.
   */
  longestIdle(userId: UserId | null, wanted?: number, hosts?: readonly string[]): Promise<SandboxId | null>;
  /** The stored decision of a conversation's latest placement; null when there is none. */
  decision(conversationId: ConversationId): Promise<PlacementDecision | null>;
}
