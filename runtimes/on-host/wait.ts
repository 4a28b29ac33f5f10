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

/** Asks until the answer is yes or `waitMs` have passed; tells whether it became yes. */
export async function becomesTrue(
  clock: Clock,
  waitMs: number,
  ask: () => Promise<boolean>,
): Promise<boolean> {
  const until = clock.now() + waitMs;
  for (;;) {
    if (await ask()) return true;
    if (clock.now() >= until) return false;
    await sleep(clock, POLL_MS);
  }
}
