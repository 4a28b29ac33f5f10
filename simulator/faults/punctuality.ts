/**
 * How far the driver can be behind the true clock, for checkers that compare both.
 * Owns the sum of what makes it late; zero while nothing strikes.
 */
import { MINUTE_MS } from '../../core/time.ts';
import type { Timeliness } from '../checkers/checker.ts';
import type { Injector } from './injector.ts';
import type { Outages } from './outages.ts';
import type { WorkerClock } from './worker-clock.ts';

/** What was held when everything healed has arrived by then: more than the longest outage and the longest delay. */
const SETTLE_MS = 30 * MINUTE_MS;

interface Parts {
  readonly now: () => number;
  readonly clock: WorkerClock;
  readonly outages: readonly Outages[];
  readonly injector: Injector;
  /** Whether something struck a host. */
  readonly areHostsStruck: () => boolean;
}

export class Punctuality implements Timeliness {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** No deadline strikes before; null while worker and store are there. */
  get absentUntil(): number | null {
    const now = this.parts.now();
    let until: number | null = null;
    for (const outages of this.parts.outages) {
      const one = outages.until(now);
      if (one !== null && (until === null || one > until)) until = one;
    }
    return until;
  }

  get isDisturbed(): boolean {
    return this.parts.injector.injected.length > 0 || this.parts.areHostsStruck();
  }

  get clockOffMs(): number {
    return this.parts.clock.worstMs;
  }

  get settleMs(): number {
    return this.isDisturbed ? SETTLE_MS : 0;
  }

  upAfter(at: number): number {
    let up = at;
    for (let before = -1; before !== up;) {
      before = up;
      for (const outages of this.parts.outages) up = outages.upAfter(up);
    }
    return up;
  }
}
