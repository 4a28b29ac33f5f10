/**
 * M1: a run's spend is the sum of its items', and never more than collections have told (D26).
 * Owns the one check; integers of nano-USD, so equality is exact.
 */
import type { RunItem, RunState } from '../../core/run/state.ts';
import type { WorldFacts } from '../world-facts.ts';
import type { Moment } from './checker.ts';

export function moneyIsConserved({ step, facts }: Moment): string | null {
  const { spentNanoUsd, items } = step.after as RunState;
  const before = step.before as RunState | null;
  let sum = 0;
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at] as RunItem;
    sum += item.costNanoUsd;
    const was = before?.items[at];
    if (item === was || item.costNanoUsd === (was?.costNanoUsd ?? 0)) continue;
    const problem = changed(item, was?.costNanoUsd ?? 0, { step, facts });
    if (problem !== null) return problem;
  }
  if (sum !== spentNanoUsd) return `it spent ${spentNanoUsd} nano-USD, and its items ${sum}`;
  return spentNanoUsd > facts.toldNanoUsd
    ? `it spent ${spentNanoUsd} nano-USD of ${facts.toldNanoUsd} told`
    : null;
}

/** Only a collection changes what an item has cost, and to no more than its conversations were billed. */
function changed(item: RunItem, wasNanoUsd: number, { step, facts }: Moment): string | null {
  const { key, costNanoUsd } = item;
  if (step.event.type !== 'itemCollected') return `${step.event.type} changed the cost of item "${key}"`;
  if (costNanoUsd < wasNanoUsd) return `the cost of item "${key}" fell from ${wasNanoUsd} to ${costNanoUsd}`;
  const billed = billedFor(item, facts, step.at);
  return costNanoUsd > billed
    ? `item "${key}" cost ${costNanoUsd} nano-USD, and ${billed} were billed for it`
    : null;
}

function billedFor({ conversationId, past }: RunItem, facts: WorldFacts, at: number): number {
  const ids = new Set(conversationId === null ? past : [...past, conversationId]);
  let sum = 0;
  for (const id of ids) sum += facts.spentBy(id, at);
  return sum;
}
