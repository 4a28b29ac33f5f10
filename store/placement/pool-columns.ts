/**
 * The columns that say who belongs to the pool of a run, as Kysely types them.
 * Owns no behaviour: placement alone writes them, never a projection.
 */
import type { ColumnType } from 'kysely';

type TextOfPlacement = ColumnType<string | null, string | null | undefined, string | null>;

export interface PooledSandboxColumns {
  /** The run whose pool it belongs to; null: it belongs to none. */
  readonly pool: TextOfPlacement;
  /** Whose kind it is: the affinity of whoever came when it was empty. */
  readonly pool_affinity: TextOfPlacement;
  /** Conversations ever placed in it as one of a pool. */
  readonly pool_placed: ColumnType<number | bigint | string, number | undefined, number>;
}

export interface PooledAttachmentColumns {
  /** 1 while it takes a place of its run's pool: until its item has ended. */
  readonly pool_place: number;
}
