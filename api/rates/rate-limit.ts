/**
 * How many requests one caller may send: buckets that fill again with time.
 * Owns the buckets and their bound; must not know what a request is about.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RateLimit } from '../../ports/rate-meter.ts';

export interface RateLimits {
  /** For one API key. */
  readonly perKey: RateLimit;
  /** Calls of one address that were refused for their key. */
  readonly refusals: RateLimit;
}

/** Far above what a client needs, far below what holds up others. */
export const RATE_LIMITS_DEFAULT: RateLimits = {
  perKey: { burst: 400, perSecond: 200 },
  refusals: { burst: 20, perSecond: 2 },
};

/** Callers remembered; a flood from many addresses must not fill the memory. */
const BUCKETS_MAX = 10_000;

interface Bucket {
  tokens: number;
  at: number;
}

export class Buckets {
  private readonly limit: RateLimit;
  private readonly clock: Clock;
  private readonly buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit, clock: Clock) {
    this.limit = limit;
    this.clock = clock;
  }

  /** Takes one. @throws ParleyError rate_limited, with the seconds after which it is worth asking again */
  take(caller: string): void {
    const bucket = this.filled(caller);
    if (bucket.tokens < 1) throw this.refusal(bucket);
    bucket.tokens -= 1;
  }

  /** There is no more than that: others have taken of it. */
  cap(caller: string, tokens: number): void {
    const bucket = this.filled(caller);
    bucket.tokens = Math.min(bucket.tokens, tokens);
  }

  private filled(caller: string): Bucket {
    const now = this.clock.now();
    const { burst, perSecond } = this.limit;
    const known = this.buckets.get(caller) ?? { tokens: burst, at: now };
    known.tokens = Math.min(burst, known.tokens + (Math.max(0, now - known.at) / 1_000) * perSecond);
    known.at = now;
    // Put back at the end: the first of the map is the one that rests longest.
    this.buckets.delete(caller);
    this.buckets.set(caller, known);
    if (this.buckets.size > BUCKETS_MAX) this.buckets.delete(this.buckets.keys().next().value ?? '');
    return known;
  }

  private refusal({ tokens }: Bucket): ParleyError {
    const retryAfter = Math.max(1, Math.ceil((1 - tokens) / this.limit.perSecond));
    return new ParleyError('rate_limited', 'Cannot take the request: too many requests', {
      details: { retry_after: retryAfter },
    });
  }
}
