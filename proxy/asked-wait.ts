/**
 * How long a gateway asks to be left alone, from the headers of its answer.
 * Owns which header counts before which; must not wait.
 */
import { lengthMs, momentMs, retryAfterMs } from '../core/retry-after.ts';
import { SECOND_MS } from '../core/time.ts';
import type { ReplyHeaders } from './relay/gateway-reply.ts';

/** Beyond it a bare number is a moment and no length: it would be thirty years. */
const EPOCH_S_MIN = 1_000_000_000;
const EPOCH_MS_MIN = 1_000_000_000_000;

/** Milliseconds; null when it says nothing. `nowMs` counts only where the answer has no date of its own. */
export function askedWaitMs(status: number, headers: ReplyHeaders, nowMs: number): number | null {
  const now = momentMs(headers.date ?? '') ?? nowMs;
  const exact = headers['retry-after-ms'];
  if (typeof exact === 'string' && NUMBER.test(exact.trim())) return Number(exact);
  const asked = retryAfterMs(headers['retry-after'], now);
  if (asked !== null || status !== TOO_MANY) return asked;
  return resetMs(headers, now);
}

const NUMBER = /^\d+(?:\.\d+)?$/;
/** Gateways name the ends of their limits with every answer; only of this one are they the reason. */
const TOO_MANY = 429;

/** When all limits that are used up begin anew; where none is said to be, the first that does. */
function resetMs(headers: ReplyHeaders, now: number): number | null {
  const all: number[] = [];
  const usedUp: number[] = [];
  for (const name in headers) {
    const [, prefix = '', rest = ''] = /^(.*ratelimit-)(.*)$/.exec(name) ?? [];
    const value = headers[name];
    const words = rest.split('-');
    if (!words.includes('reset') || typeof value !== 'string') continue;
    const wait = waitOf(value.trim(), { now, isMs: words.includes('ms') });
    if (wait === null) continue;
    all.push(wait);
    const limit = words.filter((word) => !BESIDE_LIMIT.has(word)).join('-');
    if (isUsedUp(headers, { prefix, limit })) usedUp.push(wait);
  }
  if (usedUp.length > 0) return Math.max(...usedUp);
  return all.length === 0 ? null : Math.min(...all);
}

/** The other words of such a name say which limit it is about, before or after these. */
const BESIDE_LIMIT = new Set(['reset', 'after', 'ms']);

interface Limit {
  readonly prefix: string;
  /** "" for the only one. */
  readonly limit: string;
}

/** Whether what is left of the limit is 0, or is not said. */
function isUsedUp(headers: ReplyHeaders, { prefix, limit }: Limit): boolean {
  const names = limit === '' ? ['remaining'] : [`remaining-${limit}`, `${limit}-remaining`];
  const left = names.map((name) => headers[`${prefix}${name}`]).find((value) => value !== undefined);
  return left === undefined || !(Number(left) > 0);
}

/** A length of time, a number of seconds, or a moment as a date or as a number since 1970. */
function waitOf(
  text: string,
  { now, isMs }: { readonly now: number; readonly isMs: boolean },
): number | null {
  if (!NUMBER.test(text)) {
    const moment = momentMs(text);
    return moment === null ? lengthMs(text) : Math.max(0, moment - now);
  }
  const value = Number(text);
  if (value >= EPOCH_MS_MIN) return Math.max(0, value - now);
  if (value >= EPOCH_S_MIN) return Math.max(0, value * SECOND_MS - now);
  return isMs ? value : value * SECOND_MS;
}
