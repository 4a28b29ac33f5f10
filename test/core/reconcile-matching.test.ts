/** Which rows of crowded windows are certain, against a model that tries every way of giving calls to rows. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IntervalTree } from '../../core/interval-tree.ts';
import { matchRows, type Choices } from '../../core/reconcile/reconcile-matching.ts';

type Fits = readonly (readonly number[])[];

function choices(fits: Fits): Choices {
  const out = new Set<number>();
  return {
    next: (row) => fits[row]?.find((call) => !out.has(call)) ?? -1,
    takeOut: (call) => void out.add(call),
    putBack: (calls) => {
      for (const call of calls) out.delete(call);
    },
  };
}

/** How many rows can have a call of their own at most, by trying. */
function mostMatched(fits: Fits, without: number | null, row = 0, taken: readonly number[] = []): number {
  if (row === fits.length) return taken.length;
  const skipped = mostMatched(fits, without, row + 1, taken);
  if (row === without) return skipped;
  const free = (fits[row] ?? []).filter((call) => !taken.includes(call));
  return free.reduce(
    (most, call) => Math.max(most, mostMatched(fits, without, row + 1, [...taken, call])),
    skipped,
  );
}

describe('matchRows()', () => {
  it('calls a row crowded exactly when as many rows have a call without it', () => {
    const graph = fc.array(fc.uniqueArray(fc.nat({ max: 4 }), { maxLength: 4 }), { maxLength: 6 });
    fc.assert(
      fc.property(graph, (fits) => {
        const { crowded, callOf } = matchRows(fits.length, choices(fits), choices(fits));
        const most = mostMatched(fits, null);
        expect([...crowded].map((mark) => mark === 1)).toEqual(
          fits.map((_, row) => mostMatched(fits, row) === most),
        );
        const given = [...callOf].filter((call) => call >= 0);
        expect(new Set(given).size).toBe(given.length);
        expect(given.length).toBe(most);
        for (const [row, call] of callOf.entries()) if (call >= 0) expect(fits[row]).toContain(call);
      }),
      { seed: 26, numRuns: 500 },
    );
  });

  it('goes through long chains of rows that have to move', () => {
    // Row n fits the calls n and n + 1, and the last fits the first: every row before it moves.
    const count = 5_000;
    const fits = Array.from({ length: count }, (_, row) => (row === count - 1 ? [0] : [row, row + 1]));
    const { crowded, callOf } = matchRows(count, choices(fits), choices(fits));
    expect(crowded.includes(1)).toBe(false);
    expect(new Set(callOf).size).toBe(count);
  });
});

describe('IntervalTree', () => {
  it('finds in each range what a scan finds, whatever was dropped and restored', () => {
    const stretch = fc.tuple(fc.nat({ max: 20 }), fc.nat({ max: 8 }));
    const step = fc.record({ place: fc.nat({ max: 11 }), isDrop: fc.boolean(), at: fc.nat({ max: 30 }) });
    const lists = fc.array(fc.array(stretch, { maxLength: 12 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(lists, fc.array(step), (given, steps) => {
        const sorted = given.map((list) => [...list].sort(([a], [b]) => a - b));
        const all = sorted.flat();
        let low = 0;
        const ranges = sorted.map(({ length }) => ({ low, high: (low += length) - 1 }));
        const tree = new IntervalTree(
          {
            members: Uint32Array.from(all, (_, index) => index + 100),
            froms: Float64Array.from(all, ([from]) => from),
            tos: Float64Array.from(all, ([from, length]) => from + length),
          },
          ranges,
        );
        const dropped = new Set<number>();
        for (const { place, isDrop, at } of steps) {
          const own = ranges.find(({ low, high }) => low <= place && place <= high);
          if (own !== undefined) {
            if (isDrop) tree.drop(place, own);
            else tree.restore(place, own);
            if (isDrop) dropped.add(place);
            else dropped.delete(place);
          }
          for (const range of ranges) {
            const scan = [...all.keys()].filter((index) => {
              const [from, length] = all[index] ?? [0, 0];
              const isIn = range.low <= index && index <= range.high;
              return isIn && !dropped.has(index) && from <= at && at <= from + length;
            });
            expect([...tree.holding(at, range)]).toEqual(scan);
            expect(tree.find(at, range)).toBe(scan[0] ?? -1);
            expect(scan.map((index) => tree.memberAt(index))).toEqual(scan.map((index) => index + 100));
          }
        }
      }),
      { seed: 26, numRuns: 200 },
    );
  });
});
