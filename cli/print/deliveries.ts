/**
 * Pushed branches as lines and as records.
 * Owns the words; which there are is read elsewhere.
 */
import type { Delivery } from '../deliveries.ts';
import type { JsonRecord } from './records.ts';
import { cut } from './terminal-text.ts';

/** What is more is in --json. */
const SHOWN_MAX = 10;
const PROBLEM_WIDTH = 200;

/** Counts, then what was not pushed and why. */
export function deliveryLines(deliveries: readonly Delivery[]): string[] {
  if (deliveries.length === 0) return [];
  const counts = deliveryCounts(deliveries);
  const troubles = deliveries.filter(({ state }) => state === 'failed' || state === 'pushing');
  return [
    `branches: ${counts.pushed} pushed, ${counts.nothing} without a change, ${counts.failed} not pushed`,
    ...troubles
      .slice(0, SHOWN_MAX)
      .map(
        ({ key, problem }) => `  ${key}: ${cut(problem?.message ?? 'the push was cut off', PROBLEM_WIDTH)}`,
      ),
    ...(troubles.length > SHOWN_MAX ? [`  and ${troubles.length - SHOWN_MAX} more; see --json`] : []),
  ];
}

export function deliveryCounts(deliveries: readonly Delivery[]): {
  readonly pushed: number;
  readonly nothing: number;
  readonly failed: number;
} {
  const count = (...states: readonly Delivery['state'][]): number =>
    deliveries.filter(({ state }) => states.includes(state)).length;
  return { pushed: count('pushed'), nothing: count('nothing'), failed: count('failed', 'pushing') };
}

export function deliveryRecord({ key, state, repository, branch, commit, problem }: Delivery): JsonRecord {
  return { type: 'delivery', key, state, repository, branch, commit, problem };
}
