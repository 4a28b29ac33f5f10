/** What a worker makes of the clock of a workflow: set forward, set back, late, or of another machine. */
import { describe, expect, it } from 'vitest';
import { readClock } from '../../temporal/clock-reading.ts';

const AT = 1_700_000_000_000;
const HOUR = 3_600_000;
const clock = (steadyMs: number, name = 'this') => ({ name, steady: () => steadyMs });
const seen = readClock(clock(1_000), { at: AT, last: null }).sight;

describe('a look at the clock', () => {
  it('knows nothing the first time, and nothing of the clock of another machine', () => {
    expect(seen).toEqual({ of: 'this', offsetMs: AT - 1_000 });
    const elsewhere = readClock(clock(7, 'other'), { at: AT + HOUR, last: seen });
    expect(elsewhere).toEqual({ sight: { of: 'other', offsetMs: AT + HOUR - 7 }, byMs: 0 });
  });

  it('sees by how much it was set forward, or for how long the machine was suspended', () => {
    const poll = readClock(clock(2_000), { at: AT + 1_000 + 8 * HOUR, last: seen });
    expect(poll).toEqual({ sight: { of: 'this', offsetMs: AT - 1_000 + 8 * HOUR }, byMs: 8 * HOUR });
  });

  it('takes time that passed for time that passed', () => {
    expect(readClock(clock(1_000 + HOUR), { at: AT + HOUR, last: seen }).byMs).toBe(0);
  });

  it('is not misled by a task that waited for its turn, neither then nor afterwards', () => {
    const late = readClock(clock(1_000 + HOUR), { at: AT, last: seen });
    expect(late).toEqual({ sight: seen, byMs: 0 });
    expect(readClock(clock(2_000 + HOUR), { at: AT + 1_000 + HOUR, last: late.sight }).byMs).toBe(0);
  });
});
