/** What distributions promise: mean and percentiles of many draws, the same draws for the same seed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draw, drawAs, exponential, type Distribution } from '../../simulator/models/distribution.ts';
import { RandomStream } from '../../simulator/random.ts';

const DRAWS = 20_000;

function sorted(distribution: Distribution, seed: number): readonly number[] {
  const stream = new RandomStream(seed);
  return Array.from({ length: DRAWS }, () => draw(distribution, stream)).sort((a, b) => a - b);
}

const meanOf = (draws: readonly number[]): number => draws.reduce((sum, one) => sum + one, 0) / draws.length;
const quantileOf = (draws: readonly number[], share: number): number =>
  draws[Math.floor(draws.length * share)] ?? 0;

/** Below which value this share of an exponential distribution lies. */
const exponentialQuantile = (mean: number, share: number): number => -Math.log(1 - share) * mean;

describe('an exponential distribution', () => {
  /** The mean of so many draws is off by 0.7 % at one standard deviation, a percentile by less than 3 %. */
  it.each([1, 7, 4711, 2 ** 40 + 3])('has its mean and its percentiles under seed %i', (seed) => {
    const mean = 600_000;
    const draws = sorted(exponential(mean), seed);
    expect(draws.every((one) => Number.isSafeInteger(one) && one >= 0)).toBe(true);
    expect(meanOf(draws) / mean).toBeGreaterThan(0.97);
    expect(meanOf(draws) / mean).toBeLessThan(1.03);
    for (const share of [0.25, 0.5, 0.9, 0.95, 0.99]) {
      const ratio = quantileOf(draws, share) / exponentialQuantile(mean, share);
      expect([share, Math.abs(ratio - 1) < 0.08]).toEqual([share, true]);
    }
  });

  it('has no memory: what is still to come is as long as it was at the beginning', () => {
    const mean = 600_000;
    const left = sorted(exponential(mean), 3).filter((one) => one > mean);
    expect(meanOf(left.map((one) => one - mean)) / mean).toBeCloseTo(1, 1);
  });

  it('gives the same draws for the same seed, and longer ones by the same factor for another mean', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.integer({ min: 0, max: 10_000_000 }),
        fc.integer({ min: 2, max: 9 }),
        drawsFit,
      ),
    );
  });

  it('of nothing is nothing', () => {
    expect(new Set(sorted(exponential(0), 5))).toEqual(new Set([0]));
  });
});

function drawsFit(seed: number, mean: number, factor: number): void {
  const take = (of: number): number => drawAs(exponential(of), new RandomStream(seed), 'work/a');
  expect(take(mean)).toBe(take(mean));
  expect(Math.abs(take(mean * factor) - take(mean) * factor)).toBeLessThanOrEqual(factor);
}
