/**
 * How long something takes, or how much of it there is, as a distribution.
 * Owns the forms and exact integer draws; must not know what is drawn.
 */
import type { RandomStream } from '../random.ts';

/** Milliseconds or counts, whatever it is used for; draws are integers of 0 or more. */
export type Distribution =
  | { readonly kind: 'fixed'; readonly value: number }
  | { readonly kind: 'uniform'; readonly min: number; readonly max: number }
  /** Half of the draws are below `p50`, 95 of 100 below `p95`. */
  | { readonly kind: 'lognormal'; readonly p50: number; readonly p95: number }
  /** Without memory: how long is still to come says nothing about how long it has taken. 63 of 100 draws are below `mean`. */
  | { readonly kind: 'exponential'; readonly mean: number }
  /** One of what was measured, each as likely as another; at least one. */
  | { readonly kind: 'samples'; readonly values: readonly number[] };

type Of<Kind extends Distribution['kind']> = Extract<Distribution, { readonly kind: Kind }>;

/** Always the same. */
export const fixed = (value: number): Of<'fixed'> => ({ kind: 'fixed', value });
/** Each whole number from `min` to `max` alike. */
export const uniform = (min: number, max: number): Of<'uniform'> => ({ kind: 'uniform', min, max });
/** By its middle and what 95 of 100 stay within. */
export const lognormal = (p50: number, p95: number): Of<'lognormal'> => ({ kind: 'lognormal', p50, p95 });
/** By its mean. */
export const exponential = (mean: number): Of<'exponential'> => ({ kind: 'exponential', mean });

/** The 95th percentile of the standard normal distribution. */
const NORMAL_P95 = 1.6448536269514722;
/** Twelve uniform draws minus six: normal enough for durations, without a logarithm or a cosine. */
const UNIFORMS = 12;

export function draw(distribution: Distribution, stream: RandomStream): number {
  switch (distribution.kind) {
    case 'fixed':
      return fixedOf(distribution);
    case 'uniform':
      return Math.max(
        0,
        Math.round(distribution.min + stream.next() * (distribution.max - distribution.min)),
      );
    case 'lognormal': {
      const { p50, p95 } = distribution;
      const sigmas = normal(stream) / NORMAL_P95;
      return Math.max(0, Math.round(p50 * (p95 / p50) ** sigmas));
    }
    case 'samples': {
      const { values } = distribution;
      return values[Math.floor(stream.next() * values.length)] ?? 0;
    }
    // By inversion: one draw each, and under another mean the same draw is longer by the same factor.
    case 'exponential':
      return Math.round(-Math.log(1 - stream.next()) * distribution.mean);
  }
}

/** One draw by a stream of its own for a name; what is fixed asks no stream. */
export function drawAs(distribution: Distribution, random: RandomStream, name: string): number {
  return distribution.kind === 'fixed' ? fixedOf(distribution) : draw(distribution, random.split(name));
}

const fixedOf = ({ value }: { readonly value: number }): number => Math.max(0, Math.round(value));

function normal(stream: RandomStream): number {
  let sum = -UNIFORMS / 2;
  for (let count = 0; count < UNIFORMS; count += 1) sum += stream.next();
  return sum;
}
