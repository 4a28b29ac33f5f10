/**
 * Which request an idempotency key was used for.
 * Owns the interface; the request itself is not kept, only a mark that distinguishes it from others.
 */
import type { UserId } from '../core/ids.ts';

/** One use of an idempotency key. */
export interface KeyUse {
  readonly userId: UserId;
  /** What the request is about, such as `sandbox/<id>`: one key may be used once for each. */
  readonly target: string;
  /** The caller's `Idempotency-Key`. */
  readonly key: string;
  /** The same for the same request, and for no other. */
  readonly mark: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Remembers uses for 24 hours. */
export interface IdempotencyKeys {
  /**
   * Notes the use; true when there was none, or it was the same request, whose instant is then this one.
   * Of two at once one is the first. A use is forgotten after 24 hours, and its key is then as any other.
   */
  claim(use: KeyUse): Promise<boolean>;
}
