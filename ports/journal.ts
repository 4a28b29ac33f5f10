/**
 * What a batch of a driver rests on, written down with the batch itself.
 * A driver whose own record of an activation is durable only after the batch had its effects reads here, after a kill,
 * what the activation was: it takes the same one again instead of a different one.
 * Owns the interface; inputs are opaque JSON here.
 */
import type { EntityAddress } from '../core/ids.ts';
import type { CommitBatch, Json } from './engine-store.ts';

/** A batch about to be applied, with what it rests on. */
export interface JournalEntry {
  readonly entity: EntityAddress;
  /** Counts the batches of the entity, from 1. */
  readonly number: number;
  /** Entries up to this number are durable with the driver, and are forgotten here. */
  readonly settled: number;
  readonly inputs: Json;
}

/** What became of an entry. */
export type JournalVerdict =
  /** Written, now or by an earlier try with the same inputs, whose batch was applied with it. */
  | { readonly kind: 'applied' }
  /** Another execution of the entity was first, with these inputs; nothing is applied. */
  | { readonly kind: 'different'; readonly inputs: Json }
  /** The entity is further than this execution of it; nothing is applied. */
  | { readonly kind: 'overtaken' };

/** Written ahead of the effects of a batch. */
export interface Journal {
  /**
   * Writes the entry and applies the batch in one transaction, or applies nothing.
   * @throws ParleyError store_unavailable, store_conflict; nothing was applied
   */
  commitJournaled(entry: JournalEntry, batch: CommitBatch): Promise<JournalVerdict>;
  /** Number of the latest entry of the entity that is held; 0 without one. @throws ParleyError store_unavailable */
  latest(entity: EntityAddress): Promise<number>;
}

/** What an operator does about a journal whose driver was set back to an earlier point. */
export interface JournalUpkeep {
  /** What is held, of one entity or, with null, of all. @throws ParleyError store_unavailable */
  held(entity: EntityAddress | null): Promise<JournalHeld>;
  /**
   * Forgets it, so that the driver may commit again what it has no record of. No driver may run the entities
   * meanwhile. Resolves with what was forgotten; a repeat forgets nothing.
   * @throws ParleyError store_unavailable
   */
  forget(entity: EntityAddress | null): Promise<JournalHeld>;
}

/** How much the journal holds. */
export interface JournalHeld {
  readonly entities: number;
  readonly entries: number;
}
