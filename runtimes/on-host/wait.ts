/**
 * Waiting by the runtime's clock.
 * Owns sleeping and polling; must not read the system's time.
 */
import type { Clock } from '../../ports/clock.ts';
import { POLL_MS } from './limits.ts';

/** Resolves after `delayMs`, or at once when the signal is or gets aborted. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const end = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimer(clock.now() + delayMs, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** Milliseconds left until an instant, as of now; a clock that is set meanwhile takes nothing away and adds nothing (D36). */
export function timeLeft(clock: Clock, until: number): () => number {
  const end = clock.steady() + until - clock.now();
  return () => end - clock.steady();
}

/** Polls until the condition is true or `waitMs` have passed; returns whether it became true. */
export async function becomesTrue(
  clock: Clock,
  waitMs: number,
  ask: () => Promise<boolean>,
): Promise<boolean> {
  const left = timeLeft(clock, clock.now() + waitMs);
  for (;;) {
    if (await ask()) return true;
    if (left() <= 0) return false;
    await sleep(clock, POLL_MS);
  }
}
