/**
 * A clock that a test moves: everything armed on it fires in one total order, or on purpose out of order.
 * Owns the order; must not know what fires. Owns no settling either: whoever moves it says how to wait.
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

/** The same total order as the simulator's: time, then world before deadline before script, then order of arming. */
export class OrderedClock implements Clock {
  private instant = START_AT;
  private sequence = 0;
  private readonly heap = new EventHeap<Due>();

  now(): number {
    return this.instant;
  }

  setTimer(at: number, fire: () => void): Timer {
    const armed = { on: true };
    this.put(at, 1, () => {
      if (armed.on) fire();
    });
    return { cancel: () => void (armed.on = false) };
  }

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
