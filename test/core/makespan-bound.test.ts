/** The least that a batch could take, from the times of its items. */
import { describe, expect, it } from 'vitest';
import { makespanBoundMs, mostAtOnce } from '../../core/makespan-bound.ts';

describe('makespanBoundMs()', () => {
  it('is the longest item where one outlasts its share', () => {
    const intervals = [
      { from: 0, to: 100 },
      { from: 0, to: 10 },
      { from: 10, to: 20 },
    ];
    expect(makespanBoundMs(intervals)).toBe(100);
  });

  it('is the sum over the most at once where items are even, and leaves out gaps between them', () => {
    const intervals = Array.from({ length: 30 }, (_, index) => {
      const from = Math.floor(index / 10) * 12;
      return { from, to: from + 10 };
    });
    expect(mostAtOnce(intervals)).toBe(10);
    expect(makespanBoundMs(intervals)).toBe(30);
  });

  it('counts one that begins as another ends once', () => {
    expect(
      mostAtOnce([
        { from: 0, to: 5 },
        { from: 5, to: 9 },
      ]),
    ).toBe(1);
  });

  it('is nothing for nobody', () => {
    expect(mostAtOnce([])).toBe(0);
    expect(makespanBoundMs([])).toBe(0);
  });
});
