/**
 * I31: no slot idles while somebody waits whose limits allow it (D29).
 * Owns the one check, which remembers since when it is whose turn; must not decide whose turn it is.
 */
import { MINUTE_MS } from '../../core/time.ts';
import type { SafetyCheck } from './checker.ts';

/** Far longer than an offer is on its way, and shorter than whoever waits looks by itself. */
const OFFER_MAX_MS = 5 * MINUTE_MS;

export function noSlotIdles(): SafetyCheck {
  let since = new Map<string, number>();
  return ({ step: { at }, facts, timeliness }) => {
    const turns = facts.turns();
    if (turns.length === 0 && since.size === 0) return null;
    const before = since;
    since = new Map(turns.map(({ waiterId }) => [waiterId, before.get(waiterId) ?? at]));
    if (timeliness?.isDisturbed === true) return null;
    for (const [waiterId, from] of since)
      if (at > from + OFFER_MAX_MS)
        return `a slot is free for "${waiterId}" since ${at - from} ms, and it waits in the line`;
    return null;
  };
}
