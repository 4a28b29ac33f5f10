/**
 * How much of one limit a process may use by itself, where several share it (D30).
 * Owns the division alone; amounts are in the limit's own unit: nano-USD, requests, tokens or calls at one time.
 */

/** One limit as all processes stand to it. */
export interface LeaseFacts {
  readonly limit: number;
  /** What all processes have reported as used. */
  readonly spent: number;
  /** What the other processes may still use. */
  readonly others: number;
}

/** What one process requests. */
export interface LeaseAsk {
  /** What its calls in flight may still use, and those that begin during the request: it keeps that in any case. */
  readonly held: number;
  readonly inFlight: number;
  /** What the call that waits may use at most, 0 when none waits; null where that is unknown. */
  readonly least: number | null;
  /** The call itself sets that bound, so that it is refused rather than given what is left. */
  readonly isOwnBound: boolean;
  /** What it would like to have beyond, so that it need not request a lease for every call. */
  readonly surplus: number;
  /** Another process waits already: nothing new is given before it has its share. */
  readonly isBehind: boolean;
}

export interface LeaseShare {
  /** What the process may use from now on, what it holds included. */
  readonly granted: number;
  /** False: it waits until others give something back. */
  readonly isAnswered: boolean;
}

/** Grants of all processes and what was used never exceed the limit, but by what calls in flight hold already. */
export function decideLease({ limit, spent, others }: LeaseFacts, ask: LeaseAsk): LeaseShare {
  const { held, inFlight, least, surplus } = ask;
  const free = Math.max(0, limit - spent - others - held);
  if (least === 0) return { granted: held + (ask.isBehind ? 0 : Math.min(free, surplus)), isAnswered: true };
  // Used up: waiting would not help.
  if (limit - spent <= 0) return { granted: held, isAnswered: true };
  if (ask.isBehind) return { granted: held, isAnswered: false };
  if (least !== null && least <= free) {
    return { granted: held + Math.min(free, least + surplus), isAnswered: true };
  }
  if (others > 0 || inFlight > 0) return { granted: held, isAnswered: false };
  // No other process or call uses it: what cannot be bounded may have all that is left.
  const isRefused = least !== null && ask.isOwnBound;
  return { granted: isRefused ? held : limit - spent, isAnswered: true };
}
