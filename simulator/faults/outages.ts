/**
 * When the worker, or the store under it, was away: intervals of the true clock.
 * Owns the intervals; must not decide when something fails.
 */

interface Interval {
  readonly from: number;
  until: number;
  /** Timers wait for this instant even when it comes back earlier. */
  announced: number;
}

export class Outages {
  /** By beginning, ascending: time only goes on. */
  private readonly intervals: Interval[] = [];

  /** Away from now on, until then at the least. */
  begin(now: number, until: number): void {
    const last = this.intervals.at(-1);
    if (last === undefined || last.until < now) this.intervals.push({ from: now, until, announced: until });
    else {
      last.until = Math.max(last.until, until);
      last.announced = Math.max(last.announced, until);
    }
  }

  /** Whatever is away comes back now. */
  end(now: number): void {
    const last = this.intervals.at(-1);
    if (last !== undefined && last.until > now) last.until = now;
  }

  /** Until when it is away; null when it is there. */
  until(now: number): number | null {
    const last = this.intervals.at(-1);
    return last !== undefined && last.until > now ? last.until : null;
  }

  /** The first instant at or after `at` at which it was there, and timers of then had struck. */
  upAfter(at: number): number {
    let up = at;
    for (const { from, announced } of this.intervals) if (from <= up && up < announced) up = announced;
    return up;
  }
}
