/**
 * Arrivals of a scenario file as they are played.
 * Owns what a rate means: each comes by itself, so that the time between two is exponential.
 */
import { instantFromText } from '../../core/text/instant-text.ts';
import { parseRate } from '../plan/build-admission.ts';
import type { ArrivalsDocument } from './arrivals-schema.ts';
import { distributionOf, lengthMs } from './figures.ts';
import type { ScenarioArrivals } from './scenario.ts';

type Written = NonNullable<ArrivalsDocument['conversations']>;

/** `count`: how many come where the file does not say it. */
export function buildArrivals(
  written: Written | undefined,
  { startAt, count }: { readonly startAt: number; readonly count: number },
): ScenarioArrivals | null {
  if (written === undefined) return null;
  const { rate, every, at } = written;
  if (at !== undefined) return { kind: 'at', atMs: at.map((moment) => offsetOf(moment, startAt)) };
  const gap =
    every === undefined
      ? ({ kind: 'exponential', mean: parseRate(rate ?? '') ?? 0 } as const)
      : distributionOf(every, lengthMs);
  return { kind: 'gaps', gap, count: written.count ?? count };
}

function offsetOf(moment: string, startAt: number): number {
  const instant = instantFromText(moment);
  return instant === null ? lengthMs(moment) : Math.max(0, instant - startAt);
}
