/**
 * Buckets of callers that call several services on one store.
 * Owns how far one may go ahead of what is counted in common: it takes a few requests of a caller by its own bucket and
 * reports them, so that a caller's requests are at most `AHEAD_MAX` a service over its limit, and over time not at all.
 */
import type { Clock } from '../../ports/clock.ts';
import type { RateLimit, RateMeter } from '../../ports/rate-meter.ts';
import { Buckets } from './rate-limit.ts';

/** Requests of one caller that a service takes before it queries what others have taken. */
const UNREPORTED_MAX = 10;
/** As many again may come in while the answer is under way. */
export const AHEAD_MAX = 2 * UNREPORTED_MAX;
/** Fewer requests are reported after this time, those of all callers in one statement. */
const REPORT_MS = 1_000;
/** A store that takes longer is as good as away: each service goes by its own buckets for a while. */
const ANSWER_MS_MAX = 1_000;
const ALONE_MS = 5_000;

export class SharedBuckets {
  private readonly limit: RateLimit;
  private readonly clock: Clock;
  private readonly meter: RateMeter | null;
  private readonly own: Buckets;
  private unreported = new Map<string, number>();
  private reporting: Promise<void> | null = null;
  private isReportDue = false;
  private aloneUntil = 0;

  /** Without a meter it goes by its own. */
  constructor(
    limit: RateLimit,
    { clock, meter }: { readonly clock: Clock; readonly meter: RateMeter | null },
  ) {
    this.limit = limit;
    this.clock = clock;
    this.meter = meter;
    this.own = new Buckets(limit, clock);
  }

  /** Takes one. @throws ParleyError rate_limited, with the seconds after which a retry makes sense */
  async take(caller: string): Promise<void> {
    const { meter } = this;
    while (meter !== null && !this.isAlone() && this.unreportedOf(caller) >= UNREPORTED_MAX)
      await this.report(meter);
    this.own.take(caller);
    if (meter === null || this.isAlone()) return;
    this.unreported.set(caller, this.unreportedOf(caller) + 1);
    this.reportLater(meter);
  }

  private isAlone(): boolean {
    return this.clock.now() < this.aloneUntil;
  }

  private unreportedOf(caller: string): number {
    return this.unreported.get(caller) ?? 0;
  }

  private reportLater(meter: RateMeter): void {
    if (this.isReportDue) return;
    this.isReportDue = true;
    setTimeout(() => {
      this.isReportDue = false;
      void this.report(meter);
    }, REPORT_MS).unref();
  }

  /** Never rejects. One report at a time: `take` checks again after it. */
  private report(meter: RateMeter): Promise<void> {
    this.reporting ??= this.settle(meter).finally(() => {
      this.reporting = null;
    });
    return this.reporting;
  }

  private async settle(meter: RateMeter): Promise<void> {
    const used = this.unreported;
    if (used.size === 0) return;
    this.unreported = new Map();
    try {
      const left = await inTime(meter.settle(this.limit, used));
      for (const [caller, tokens] of left) this.own.cap(caller, tokens);
    } catch {
      this.aloneUntil = this.clock.now() + ALONE_MS;
    }
  }
}

async function inTime<T>(asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the store has not answered')), ANSWER_MS_MAX);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}
