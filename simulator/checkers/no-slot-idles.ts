/**
 * I31: no slot idles while somebody waits whose limits allow it (D29).
 * Owns the one check, which remembers since when it is whose turn, who asks, and whether an offer is on its way; must not
 * decide whose turn it is.
 */
import { MINUTE_MS } from '../../core/time.ts';
import type { Moment, SafetyCheck } from './checker.ts';

/** Between an offer and the answer to it nothing takes time; shorter than whoever waits looks by itself. */
const IDLE_MAX_MS = 10 * MINUTE_MS;

const OFFERS: ReadonlySet<string> = new Set(['offerRoom', 'removeConversation']);
const ASKS: ReadonlySet<string> = new Set(['placeConversation', 'reserveSlot']);

export function noSlotIdles(): SafetyCheck {
  let since = new Map<string, number>();
  /** A try may take as long as it likes. */
  const asking = new Set<string>();
  /** The latest offer of which nobody has heard yet. */
  let offeredAt = -Infinity;
  return ({ step, facts, timeliness }: Moment) => {
    const { at, address, event, commands } = step;
    const before = since;
    since = new Map(facts.turns().map(({ waiterId }) => [waiterId, before.get(waiterId) ?? at]));
    const isOnItsWay = (from: number) => offeredAt >= from - MINUTE_MS;
    const idle = [...since].find(
      ([id, from]) => !asking.has(id) && at > from + IDLE_MAX_MS && !isOnItsWay(from),
    );
    // It speaks: it asks, has heard, or goes.
    if (since.has(address.id)) since.set(address.id, at);
    if (commands.some(({ type }) => ASKS.has(type))) asking.add(address.id);
    else asking.delete(address.id);
    if (event.type === 'roomOffered') offeredAt = -Infinity;
    if (commands.some(({ type }) => OFFERS.has(type))) offeredAt = at;
    if (idle === undefined || timeliness?.isDisturbed === true) return null;
    return `a slot is free for "${idle[0]}" since ${at - idle[1]} ms, and it waits in the line`;
  };
}
