/**
 * Where current trouble is kept for those who ask: one row per entity and what it tries.
 * Owns the interface; rows are written where retries are decided, and no machine reads them.
 */
import type { EntityAddress } from '../core/ids.ts';
import type { TroubleOf } from '../core/trouble.ts';

/** What is tried, and by whom. */
export interface TroubleKey {
  readonly about: EntityAddress;
  /** Key of an item; null where the trouble is the entity's own. */
  readonly item: string | null;
  readonly what: string;
}

/** A try that failed, and when the next one is. */
export interface FailedTry extends TroubleKey {
  readonly cause: string;
  readonly tries: number;
  /** Epoch milliseconds. */
  readonly nextAt: number;
  /** Epoch milliseconds at which it was seen: an older word never wins. */
  readonly at: number;
}

/** Current trouble of all entities. */
export interface Troubles {
  /** The first failed try begins the trouble; later ones keep its `since`. Nothing is kept of a deleted conversation. */
  failed(failed: FailedTry): Promise<void>;
  /** It is over, whether it went well or was given up. Idempotent; nothing when there was none. */
  over(key: TroubleKey, at: number): Promise<void>;
  /** What lasts, newest first, at most 1,000. */
  open(): Promise<readonly TroubleOf[]>;
}
