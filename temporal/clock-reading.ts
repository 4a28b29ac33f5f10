/**
 * Whether the clock of an entity's workflow was set forward, or this machine suspended, since its latest batch (D36).
 * Owns the comparison of the server's clock with this machine's steady clock; the machines decide what follows.
 */
import type { ClockSight } from '../workflows/clock-sight.ts';

/** A task that waits for its turn reads the clock late, and a reading may be old by so much. */
const SET_MIN_MS = 30_000;

export interface SteadyClock {
  /** The same for all processes whose readings can be compared: of one machine, since its start. */
  readonly name: string;
  /** Milliseconds, as of the port. */
  steady(): number;
}

export interface ClockReading {
  readonly sight: ClockSight;
  /** By how much it was set forward; 0 when it was not, or when that is not known. */
  readonly byMs: number;
}

/**
 * `at`: the workflow's clock at its request. Waiting only makes a reading smaller, so the largest is the best, and a
 * clock that was set back is not detected.
 */
export function readClock(
  clock: SteadyClock,
  { at, last }: { readonly at: number; readonly last: ClockSight | null },
): ClockReading {
  const offsetMs = Math.round(at - clock.steady());
  const sight = { of: clock.name, offsetMs };
  if (last?.of !== clock.name) return { sight, byMs: 0 };
  const byMs = offsetMs - last.offsetMs;
  if (byMs >= SET_MIN_MS) return { sight, byMs };
  return { sight: byMs > 0 ? sight : last, byMs: 0 };
}
