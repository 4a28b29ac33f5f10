/**
 * Waiting on the clock port, until the instant or an abort.
 * Owns nothing else.
 */
import type { Clock } from '../ports/clock.ts';

/** Resolves at the instant or when the signal is aborted, whichever is first; callers check the signal. */
export function sleepUntil(clock: Clock, at: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = clock.setTimer(at, wake);
    signal.addEventListener('abort', wake, { once: true });
  });
}
