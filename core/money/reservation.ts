/**
 * Whether a call may begin under a budget that is enforced, and what it charges at its end (D30).
 * Owns the comparison alone: who waits, and in which order, is its caller's; must not know a model or a token.
 */

/** What of one budget is spent, and what the calls in flight may still spend. */
export interface BudgetFacts {
  readonly limitNanoUsd: number;
  readonly spentNanoUsd: number;
  readonly heldNanoUsd: number;
  readonly inFlight: number;
  /** A call in flight cannot be bounded, so that nothing may begin beside it. */
  readonly isTaken: boolean;
}

/** A call that wants to begin under a budget. */
export interface BudgetAsk {
  /** The most that the call can cost; null where that is not known. */
  readonly atMostNanoUsd: number | null;
  /** The call itself sets the bound: one that does not fit is refused, because it could request less. */
  readonly isOwnBound: boolean;
}

/** Whether a call may begin, waits for one in flight, or is refused. */
export type BudgetDecision =
  | { readonly kind: 'go'; readonly heldNanoUsd: number; readonly isAlone: boolean }
  /** Until a call in flight ends; there is one. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'used_up' }
  | { readonly kind: 'too_large'; readonly leftNanoUsd: number };

/** Holds the most that a call can cost before it begins; what it did cost is settled at its end. */
export function decideReservation(facts: BudgetFacts, ask: BudgetAsk): BudgetDecision {
  const { limitNanoUsd, spentNanoUsd, heldNanoUsd, inFlight, isTaken } = facts;
  const leftNanoUsd = limitNanoUsd - spentNanoUsd;
  if (leftNanoUsd <= 0) return { kind: 'used_up' };
  const { atMostNanoUsd } = ask;
  const fits = atMostNanoUsd !== null && atMostNanoUsd <= leftNanoUsd - heldNanoUsd;
  if (fits && !isTaken) return { kind: 'go', heldNanoUsd: atMostNanoUsd, isAlone: false };
  if (inFlight > 0) return { kind: 'wait' };
  if (atMostNanoUsd !== null && ask.isOwnBound) return { kind: 'too_large', leftNanoUsd };
  // No other call is in flight: it may have all that is left, and what it costs beyond that could not be held.
  return { kind: 'go', heldNanoUsd: leftNanoUsd, isAlone: true };
}

export interface EndedCall {
  readonly heldNanoUsd: number;
  /** What it cost; null where neither price nor gateway says. */
  readonly costNanoUsd: number | null;
  /** It was refused before anything was worked on. */
  readonly isUnbilled: boolean;
  /** The most that was used by what was seen of it; null where that says nothing. */
  readonly seenNanoUsd: number | null;
}

/** An unknown cost counts as what was held for it: an unpriced call uses its budget up rather than nothing. */
export function chargeOf({ heldNanoUsd, costNanoUsd, isUnbilled, seenNanoUsd }: EndedCall): number {
  if (costNanoUsd !== null) return costNanoUsd;
  if (isUnbilled) return 0;
  return seenNanoUsd === null ? heldNanoUsd : Math.min(heldNanoUsd, seenNanoUsd);
}
