/** The real clock: timers follow a wall clock that is set forward, and wait no longer for one that is set back. */
import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../engine/system-clock.ts';

const HOUR_MS = 3_600_000;

afterEach(() => vi.restoreAllMocks());

function setWall(byMs: number): void {
  const real = Date.now.bind(Date);
  vi.spyOn(Date, 'now').mockImplementation(() => real() + byMs);
}

const fired = (at: number): Promise<void> => new Promise((resolve) => void systemClock.setTimer(at, resolve));

it('fires what a clock that is set forward has made due, within moments', async () => {
  const due = fired(systemClock.now() + HOUR_MS);
  setWall(HOUR_MS);
  await due;
});

it('makes nobody wait for an hour because the clock is set back by one', async () => {
  const due = fired(systemClock.now() + 50);
  setWall(-HOUR_MS);
  await due;
});

it('goes on alone while the wall clock is set', () => {
  const before = systemClock.steady();
  setWall(HOUR_MS);
  expect(systemClock.steady() - before).toBeLessThan(HOUR_MS / 2);
});
