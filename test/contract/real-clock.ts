/**
 * The system's clock as the port, for tests that run real processes.
 */
import type { Clock } from '../../ports/clock.ts';

export const realClock: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  setTimer(at, fire) {
    const timer = setTimeout(fire, Math.max(0, at - Date.now()));
    return { cancel: () => clearTimeout(timer) };
  },
};
