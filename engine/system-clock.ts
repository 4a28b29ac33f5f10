/**
 * The real clock.
 * Owns the only touch of system time in the engine; every other part gets a Clock.
 */
import type { Clock, Timer } from '../ports/clock.ts';

/** Node's timers hold 31 bits of milliseconds; longer waits are taken in steps. */
const STEP_MAX_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer: (at, fire) => armTimer(at, fire),
};

function armTimer(at: number, fire: () => void): Timer {
  let handle: NodeJS.Timeout;
  const arm = (): void => {
    const left = at - Date.now();
    // A timer may fire a little early; the wait goes on until the instant has really come.
    handle = setTimeout(() => (Date.now() >= at ? fire() : arm()), Math.min(Math.max(0, left), STEP_MAX_MS));
  };
  arm();
  return { cancel: () => clearTimeout(handle) };
}
