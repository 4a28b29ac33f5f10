/**
 * What the embedded driver keeps: state, inbox, timers and outbox, changed in one transaction.
 * Owns the interface; states, events and commands are opaque JSON here.
 */
import type { EntityAddress } from '../core/ids.ts';
import type { ProjectionRow } from '../core/machine/projection.ts';

/** What a state, an event and a command are here. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** An entity as its last commit left it. */
export interface StoredEntity {
  readonly address: EntityAddress;
  /** Whole, or the head of it when `lists` is there. */
  readonly state: Json;
  /** The other parts of the state, by name; absent when it is stored whole. */
  readonly lists?: Readonly<Record<string, readonly Json[]>>;
  /** Epoch milliseconds of the next `deadline` event; null when nothing is due. */
  readonly deadline: number | null;
  /** A done entity is a tombstone: events for it are dropped for ever (D11). */
  readonly done: boolean;
}

/** An entity as a commit writes it. */
export interface EntityWrite extends Omit<StoredEntity, 'lists'> {
  /** What becomes of the other parts; absent: `state` is whole, and no part of an earlier one is left. */
  readonly parts?: PartsWrite;
}

/** The lists of a state that is stored in parts. */
export interface PartsWrite {
  /** True: no part of an earlier state is left, and `changed` holds every element of every list. */
  readonly anew: boolean;
  /** All lists of the state by name; the names are those of the last commit, unless it is written anew. */
  readonly lists: Readonly<Record<string, ListWrite>>;
}

/** What of one list is written. */
export interface ListWrite {
  /** Elements that the list has after the commit. */
  readonly length: number;
  /** True when it had more before: what lies behind its end is removed. */
  readonly shrinks: boolean;
  /** Elements that are new or another than before, each position once; all others stay as they are stored. */
  readonly changed: readonly { readonly position: number; readonly state: Json }[];
}

/** A command handed out and not answered yet. */
export interface OutboxEntry {
  readonly commandId: string;
  readonly sender: EntityAddress;
  readonly command: Json;
  readonly createdAt: number;
  /** Tries so far. */
  readonly attempt: number;
  /** Epoch milliseconds before which it is not tried again. */
  readonly notBefore: number;
}

/** An event accepted and not applied yet. `inboxId` makes a repeat harmless. */
export interface InboxEntry {
  readonly inboxId: string;
  readonly to: EntityAddress;
  readonly event: Json;
  readonly acceptedAt: number;
}

/** One group commit: applied whole or not at all. */
export interface CommitBatch {
  /** Of one entity the later ones are newer; a change of parts rests on those before it. */
  readonly entities: readonly EntityWrite[];
  readonly outboxAdded: readonly OutboxEntry[];
  readonly outboxRetried: readonly {
    readonly commandId: string;
    readonly attempt: number;
    readonly notBefore: number;
  }[];
  readonly outboxRemoved: readonly string[];
  readonly inboxAdded: readonly InboxEntry[];
  readonly inboxRemoved: readonly string[];
  /** Later rows of one key in this list are newer; stamps decide against what is stored. */
  readonly projections: readonly ProjectionRow[];
}

/** The store of the embedded driver. */
export interface EngineStore {
  /** Null when the entity was never seen. Parts are of one commit, the head of the same. */
  load(address: EntityAddress): Promise<StoredEntity | null>;
  /** Entities with a deadline that are not done. */
  armed(): Promise<readonly { readonly address: EntityAddress; readonly deadline: number }[]>;
  outbox(): Promise<readonly OutboxEntry[]>;
  /** In order of acceptance. */
  inbox(): Promise<readonly InboxEntry[]>;
  /** @throws ParleyError store_unavailable; nothing was applied. */
  commit(batch: CommitBatch): Promise<void>;
}
