/**
 * The real clock.
 * Owns the only touch of system time in the engine, and notices that the wall clock was set or the machine suspended;
 * every other part gets a Clock.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Clock, Timer } from '../ports/clock.ts';

/** Node's timers hold 31 bits of milliseconds; longer waits are taken in steps. */
const STEP_MAX_MS = 2 ** 31 - 1;
/** Timers of Node go by the clock that is never set: so often it is compared with the one on the wall. */
const POLL_EVERY_MS = 1_000;
/** Both are read one after the other, and adjusting the wall clock softly is no jump. */
const JUMP_MIN_MS = 250;

/** From the start of the machine, the same for every process on it; on Linux it stands while the machine is suspended. */
function steady(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

/** The machine's own clock and timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  steady,
  setTimer: (at, fire) => new SystemTimer(at, fire),
};

/** Every timer that is armed. */
const armed = new Set<SystemTimer>();
let watch: NodeJS.Timeout | null = null;
let offsetMs = 0;

class SystemTimer implements Timer {
  private readonly at: number;
  private readonly fire: () => void;
  /** By the clock that is never set. */
  private readonly dueBy: number;
  private handle: NodeJS.Timeout | undefined;

  constructor(at: number, fire: () => void) {
    this.at = at;
    this.fire = fire;
    this.dueBy = steady() + Math.max(0, at - Date.now());
    armed.add(this);
    watchWall();
    this.arm();
  }

  /** A timer may fire a little early; the wait goes on until the instant has really come. */
  arm(): void {
    clearTimeout(this.handle);
    const left = Math.min(this.at - Date.now(), this.dueBy - steady());
    this.handle = setTimeout(() => this.look(), Math.min(Math.max(0, left), STEP_MAX_MS));
  }

  cancel(): void {
    clearTimeout(this.handle);
    armed.delete(this);
  }

  private look(): void {
    if (Date.now() < this.at && steady() < this.dueBy) return this.arm();
    this.cancel();
    this.fire();
  }
}

/** A wall clock that is set forward brings every instant nearer: a timer for one is armed anew. */
function watchWall(): void {
  if (watch !== null) return;
  offsetMs = Date.now() - steady();
  watch = setInterval(() => {
    const nowMs = Date.now() - steady();
    if (Math.abs(nowMs - offsetMs) < JUMP_MIN_MS) return;
    offsetMs = nowMs;
    for (const timer of armed) timer.arm();
  }, POLL_EVERY_MS).unref();
}

/** For readings that processes compare: its name is that of this start of the machine, where the system gives it one. */
export function steadyClock(): { readonly name: string; steady(): number } {
  return { name: bootId() ?? randomUUID(), steady };
}

function bootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return null;
  }
}
