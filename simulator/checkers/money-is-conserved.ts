/**
 * M1: a run's spend is the sum of its items', and never more than collections have told (D26).
 * Owns the one check; integers of nano-USD, so equality is exact.
 */
import type { RunState } from '../../core/run/state.ts';
import type { Moment } from './checker.ts';

export function moneyIsConserved({ step, facts }: Moment): string | null {
  const { spentNanoUsd, items } = step.after as RunState;
  const sum = items.reduce((total, item) => total + item.costNanoUsd, 0);
  if (sum !== spentNanoUsd) return `it spent ${spentNanoUsd} nano-USD, and its items ${sum}`;
  return spentNanoUsd > facts.toldNanoUsd
    ? `it spent ${spentNanoUsd} nano-USD of ${facts.toldNanoUsd} told`
    : null;
}
