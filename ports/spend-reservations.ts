/**
 * Money that is held for a call from before it is sent until it has ended (D30).
 * Owns the interface of one budget; the proxy keeps it in the memory of its process, and a store that several share can
 * keep it as well, because an answer may be waited for.
 */
import type { BudgetAsk } from '../core/money/reservation.ts';

/** What a call holds; given back exactly once. */
export interface BudgetHold {
  readonly heldNanoUsd: number;
}

/** Whether the call may begin. */
export type ReservationAnswer =
  | { readonly kind: 'held'; readonly hold: BudgetHold }
  /** Nothing is left. */
  | { readonly kind: 'used_up' }
  /** The call says that it may cost more than is left. */
  | { readonly kind: 'too_large'; readonly leftNanoUsd: number }
  /** Too many wait already, or it waited too long. */
  | { readonly kind: 'busy' }
  /** What is left cannot be read. */
  | { readonly kind: 'unread' };

/** The answer is not there yet. */
export interface ReservationWait {
  readonly kind: 'waiting';
  /** Never rejects; after `cancel` it never resolves. */
  readonly answer: Promise<ReservationAnswer>;
  /** The caller does not want the answer any more; without effect once it is there. */
  cancel(): void;
}

/** The holds of one budget. */
export interface SpendReservations {
  /**
   * In the order in which calls ask: one that waits is not overtaken. `ask` is called again whenever the call might
   * begin, because what is known of its model grows meanwhile.
   */
  reserve(ask: () => BudgetAsk): ReservationAnswer | ReservationWait;
  /** The call has ended and cost so much. A repeat for the same hold changes nothing. */
  settle(hold: BudgetHold, chargedNanoUsd: number): void;
}
