/**
 * Spend rows that a database had lost with its tail, or by an older copy (D26).
 * Owns the shape, which runs it is about, and its sentence; must not search for a row.
 */
import { counted } from '../text/counted.ts';
import { formatUsd, nanoUsd, type NanoUsd } from './money.ts';

/** Calls whose spend rows were lost. */
export interface SpendLoss {
  readonly calls: number;
  /** What those cost whose cost is known. */
  readonly costNanoUsd: NanoUsd;
  /** When the first and the last of them began, epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  /** Calls that began before may be missing for good: they were not kept. */
  readonly mayBeMore: boolean;
  /** When it was seen; epoch milliseconds. */
  readonly seenAt: number;
}

/** All that is known to have been lost of an interval, as one; null when nothing is. */
export function lossWithin(
  losses: readonly SpendLoss[],
  interval: { readonly from: number; readonly to: number },
): SpendLoss | null {
  const ours = losses.filter(
    ({ from, to, mayBeMore }) => (mayBeMore || from < interval.to) && to >= interval.from,
  );
  if (ours.length === 0) return null;
  return {
    calls: ours.reduce((sum, { calls }) => sum + calls, 0),
    costNanoUsd: nanoUsd(ours.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0)),
    from: Math.min(...ours.map(({ from }) => from)),
    to: Math.max(...ours.map(({ to }) => to)),
    mayBeMore: ours.some(({ mayBeMore }) => mayBeMore),
    seenAt: Math.max(...ours.map(({ seenAt }) => seenAt)),
  };
}

/** A sentence without its end. */
export function lossWords({ calls, costNanoUsd, from, to, mayBeMore, seenAt }: SpendLoss): string {
  const [first, last, seen] = [from, to, seenAt].map((at) => new Date(at).toISOString());
  const more = mayBeMore ? `; calls before ${first} may be missing for good, and their cost with them` : '';
  return `the store had lost ${counted(calls, 'call')} of all runs, ${formatUsd(costNanoUsd)}, from ${first} to ${last}, as was seen at ${seen}: they were brought back and count${more}`;
}
