/**
 * Choices made with a stream: one of a list, a number in a range, a time that may be long or short.
 * Owns the forms of a choice; what is chosen is the caller's.
 */
import type { RandomStream } from '../random.ts';

/** One of them; weights default to equal ones. @throws Error for an empty list */
export function pick<Value>(
  stream: RandomStream,
  values: readonly Value[],
  weights?: readonly number[],
): Value {
  const total = weights?.reduce((sum, weight) => sum + weight, 0) ?? values.length;
  let left = stream.next() * total;
  for (const [index, value] of values.entries()) {
    left -= weights?.[index] ?? 1;
    if (left < 0) return value;
  }
  const last = values.at(-1);
  if (last === undefined) throw new Error('Cannot pick: there is nothing to pick from');
  return last;
}

/** An integer, both ends included. */
export function between(stream: RandomStream, min: number, max: number): number {
  return min + Math.floor(stream.next() * (max - min + 1));
}

/** Evenly spread over orders of magnitude: a minute is as likely as an hour. */
export function magnitude(stream: RandomStream, min: number, max: number): number {
  return min * (max / min) ** stream.next();
}

/** The same as a whole number. */
export function wholeMagnitude(stream: RandomStream, min: number, max: number): number {
  return Math.round(magnitude(stream, min, max));
}

/** Each of them with that share, in their order. */
export function some<Value>(stream: RandomStream, values: readonly Value[], share: number): readonly Value[] {
  return values.filter(() => stream.happens(share));
}
