/**
 * When what comes over time comes: the arrivals of a scenario as milliseconds from the beginning.
 * Owns the draws; each gap has a stream of its own, so that one more arrival changes none of the others.
 */
import type { ScenarioArrivals } from '../../dsl/scenario/scenario.ts';
import { drawAs } from '../models/distribution.ts';
import type { RandomStream } from '../random.ts';

/** In the order of whom they are for; gaps add up, what is written is taken as it is. */
export function arrivalOffsets(arrivals: ScenarioArrivals | null, random: RandomStream): readonly number[] {
  if (arrivals === null) return [];
  if (arrivals.kind === 'at') return arrivals.atMs;
  let at = 0;
  return Array.from(
    { length: arrivals.count },
    (_, index) => (at += drawAs(arrivals.gap, random, `gap/${index}`)),
  );
}
