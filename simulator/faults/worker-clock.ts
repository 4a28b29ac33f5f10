/**
 * The clock of the worker: right, off, or set.
 * Owns how far it is off; bounded, and right again after a while.
 */
import type { RandomStream } from '../random.ts';
import type { Simulation } from '../simulation.ts';
import { CLOCK_OFF, CLOCK_OFF_FOR, CLOCK_OFF_MAX_MS, figureIn } from './figures.ts';
import type { Held } from './held.ts';
import type { Opportunities } from './opportunities.ts';

type Driver = Pick<Simulation, 'now' | 'setClock'>;

export class WorkerClock {
  /** What machines read is the true clock and this, in milliseconds. */
  offMs = 0;
  /** The farthest it has ever been off. */
  worstMs = 0;
  private readonly opportunities: Opportunities;
  private readonly held: Held;
  private readonly driver: () => Driver;

  constructor(opportunities: Opportunities, held: Held, driver: () => Driver) {
    this.opportunities = opportunities;
    this.held = held;
    this.driver = driver;
  }

  /** An opportunity for every fault of the clock. */
  poll(where: string): void {
    const skew = this.opportunities.strikes('worker_clock_skew', where, null);
    if (skew !== null) this.set(skew, skew.happens(0.5) ? 1 : -1);
    const ahead = this.opportunities.strikes('worker_clock_jump_forward', where, null);
    if (ahead !== null) this.set(ahead, 1);
    const back = this.opportunities.strikes('worker_clock_jump_back', where, null);
    if (back !== null) this.set(back, -1);
  }

  private set(stream: RandomStream, sign: 1 | -1): void {
    const offMs = sign * Math.min(CLOCK_OFF_MAX_MS, figureIn(CLOCK_OFF, stream));
    this.setTo(offMs);
    this.worstMs = Math.max(this.worstMs, Math.abs(offMs));
    this.held.until(this.driver().now() + figureIn(CLOCK_OFF_FOR, stream), () => {
      if (this.offMs === offMs) this.setTo(0);
    });
  }

  private setTo(offMs: number): void {
    const byMs = offMs - this.offMs;
    this.offMs = offMs;
    this.driver().setClock(byMs);
  }
}
