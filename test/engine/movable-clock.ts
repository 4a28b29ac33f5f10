/**
 * A clock that stands still until a test moves it.
 * Owns its timers and their order; must not read the system's time.
 */
import type { Clock, Timer } from '../../ports/clock.ts';

/** Instant at which tests begin: any number that is not 0 shows a forgotten `now`. */
export const T0 = 1_700_000_000_000;

interface Armed {
  readonly at: number;
  /** By the steady clock, which is never set. */
  readonly dueBy: number;
  readonly order: number;
  readonly fire: () => void;
}

export class MovableClock implements Clock {
  private instant: number;
  /** By how much it was set. */
  private setMs = 0;
  private order = 0;
  private readonly armed = new Set<Armed>();

  constructor(instant = T0) {
    this.instant = instant;
  }

  now(): number {
    return this.instant;
  }

  steady(): number {
    return this.instant - this.setMs;
  }

  setTimer(at: number, fire: () => void): Timer {
    this.order += 1;
    const armed: Armed = { at, dueBy: at - this.setMs, order: this.order, fire };
    this.armed.add(armed);
    if (at <= this.instant) setImmediate(() => this.fire(armed));
    return { cancel: () => void this.armed.delete(armed) };
  }

  /** Instants of the timers that are armed, earliest first. */
  get timers(): readonly number[] {
    return [...this.armed].map(({ at }) => at).sort((a, b) => a - b);
  }

  /** Lets every timer up to then fire in order; `settle` runs after each, so that what it causes happens at its time. */
  async moveTo(instant: number, settle: () => Promise<void> = turns): Promise<void> {
    await settle();
    for (let next = this.next(instant); next !== undefined; next = this.next(instant)) {
      this.instant = Math.max(this.instant, this.dueAt(next));
      this.fire(next);
      await settle();
    }
    this.instant = Math.max(this.instant, instant);
    await settle();
  }

  move(byMs: number, settle?: () => Promise<void>): Promise<void> {
    return this.moveTo(this.instant + byMs, settle);
  }

  /** An operator corrects the clock of the machine. */
  setBack(byMs: number): void {
    this.setForward(-byMs);
  }

  /** An operator corrects it, or the machine was suspended so long; `move(0)` lets fire what has become due. */
  setForward(byMs: number): void {
    this.instant += byMs;
    this.setMs += byMs;
  }

  private next(until: number): Armed | undefined {
    const due = [...this.armed].filter((armed) => this.dueAt(armed) <= until);
    return due.sort((a, b) => this.dueAt(a) - this.dueAt(b) || a.order - b.order)[0];
  }

  /** A clock that is set back makes no wait longer. */
  private dueAt({ at, dueBy }: Armed): number {
    return Math.min(at, dueBy + this.setMs);
  }

  private fire(armed: Armed): void {
    if (this.armed.delete(armed)) armed.fire();
  }
}

/** Lets everything happen that needs no time: many turns of the event loop, real files included. */
export async function turns(count = 30): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Turns the event loop until `isTrue`; the running test's own time limit bounds it. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await turns(1);
}
