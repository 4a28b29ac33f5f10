/**
 * Trouble with something outside while it lasts: what is tried, why it fails, since when, how often, and when again (D32).
 * Owns the shape; which trouble is shown is decided in core/current-trouble.ts.
 */
import type { EntityAddress } from './ids.ts';

/** Something that fails and is tried again, as users see it. */
export interface Trouble {
  /** The command that is tried again, or `model` for the calls of an agent. */
  readonly what: string;
  readonly cause: string;
  /** Epoch milliseconds of the first try that failed. */
  readonly since: number;
  /** Tries that failed in a row. */
  readonly tries: number;
  /** Epoch milliseconds of the next try. */
  readonly nextAt: number;
}

/** A trouble, and the entity that has it. */
export interface TroubleOf extends Trouble {
  readonly about: EntityAddress;
  /** Key of the item, where a run tries something for one of its items. */
  readonly item: string | null;
}
