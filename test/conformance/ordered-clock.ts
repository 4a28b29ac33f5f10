/**
 * A clock that a test moves: everything armed on it fires in one total order, or on purpose out of order.
 * Owns the order; must not know what fires. Owns no settling either: the caller that moves it says how to wait.
 */
import type { Clock, Timer } from '../../ports/clock.ts';
import { EventHeap, type HeapEntry } from '../../simulator/event-heap.ts';
import type { RandomStream } from '../../simulator/random.ts';
import { START_AT } from '../../simulator/script.ts';

/** At most so many entries fire together in a race. */
const RACERS_MAX = 6;
/** Entries further apart than this do not race: a network may be that slow, a timer is not. */
const RACE_WINDOW_MS = 2_000;

interface Due extends HeapEntry {
  readonly fire: () => void;
}

/** `at` is by the wall clock, which may be set while it is armed; `dueBy` is as it was then, by the true time. */
interface Armed {
  readonly at: number;
  readonly dueBy: number;
  readonly fire: () => void;
}

/** The same total order as the simulator's: time, then world before deadline before script, then order of arming. */
export class OrderedClock implements Clock {
  /** The true time: the world goes by it, however the wall clock is set. */
  private instant = START_AT;
  /** By how much the wall clock was set. */
  private setMs = 0;
  private readonly armed = new Set<Armed>();
  private sequence = 0;
  private readonly heap = new EventHeap<Due>();

  now(): number {
    return this.instant + this.setMs;
  }

  steady(): number {
    return this.instant;
  }

  /** The wall clock is set by so much: what is armed comes nearer, or is further away. */
  set(byMs: number): void {
    this.setMs += byMs;
    for (const timer of this.armed) this.follow(timer);
  }

  setTimer(at: number, fire: () => void): Timer {
    const timer: Armed = { at, dueBy: at - this.setMs, fire };
    this.armed.add(timer);
    this.follow(timer);
    return { cancel: () => void this.armed.delete(timer) };
  }

  /** Of several entries of one timer the first that is due fires. */
  private follow(timer: Armed): void {
    this.put(timer.at - this.setMs, 1, () => {
      const isDue = timer.at <= this.now() || timer.dueBy <= this.instant;
      if (isDue && this.armed.delete(timer)) timer.fire();
    });
  }

  /** `at`: of the true time. */
  put(at: number, priority: number, fire: () => void): void {
    this.sequence += 1;
    this.heap.push({ at: Math.max(at, this.instant), priority, sequence: this.sequence, fire });
  }

  async moveTo(end: number, settle: () => Promise<void>): Promise<void> {
    for (let next = this.heap.peek(); next !== undefined && next.at <= end; next = this.heap.peek()) {
      this.heap.pop();
      this.instant = next.at;
      next.fire();
      await settle();
    }
    this.instant = end;
  }

  /** Fires what is due closely together in any order, without waiting for one before the next. */
  async raceTo(end: number, stream: RandomStream, breathe: () => Promise<void>): Promise<void> {
    for (let first = this.heap.peek(); first !== undefined && first.at <= end; first = this.heap.peek()) {
      const racers: Due[] = [];
      const until = Math.min(end, first.at + RACE_WINDOW_MS);
      const count = 1 + Math.floor(stream.next() * RACERS_MAX);
      for (let next = this.heap.peek(); next !== undefined && next.at <= until && racers.length < count;) {
        this.heap.pop();
        racers.splice(Math.floor(stream.next() * (racers.length + 1)), 0, next);
        next = this.heap.peek();
      }
      this.instant = Math.max(this.instant, ...racers.map(({ at }) => at));
      for (const racer of racers) {
        racer.fire();
        if (stream.happens(0.3)) await breathe();
      }
      await breathe();
    }
    this.instant = end;
  }
}
