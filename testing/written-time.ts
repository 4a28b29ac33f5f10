/**
 * Lengths of time and distributions as a test writes them.
 * Owns their spelling here; durations are those of the job language.
 */
import { parseDuration } from '../dsl/duration.ts';
import {
  exponential,
  fixed,
  lognormal,
  uniform,
  type Distribution,
} from '../simulator/models/distribution.ts';

/** A duration as in a job file (`'90s'`, `'11h30m'`, `'2d'`), or milliseconds. */
export type Time = string | number;

/** Always the same, between two, by median and 95th percentile, or without memory. */
export type Times =
  | Time
  | { readonly min: Time; readonly max: Time }
  /** Half of the draws are below `p50`, 95 of 100 below `p95`. */
  | { readonly p50: Time; readonly p95: Time }
  /** Exponential: 63 of 100 draws are below `mean`. */
  | { readonly mean: Time };

/** @throws RangeError when it is no duration */
export function milliseconds(time: Time): number {
  const ms = typeof time === 'number' ? time : parseDuration(time);
  if (ms !== null && Number.isFinite(ms) && ms >= 0) return Math.round(ms);
  throw new RangeError(
    `Cannot use the time "${time}": write days, hours, minutes, seconds, as in "2d12h", or milliseconds`,
  );
}

/** A single length is a fixed time. */
export function distributionOf(times: Times): Distribution {
  if (typeof times === 'string' || typeof times === 'number') return fixed(milliseconds(times));
  if ('mean' in times) return exponential(milliseconds(times.mean));
  if ('min' in times) return uniform(milliseconds(times.min), milliseconds(times.max));
  return lognormal(milliseconds(times.p50), milliseconds(times.p95));
}
