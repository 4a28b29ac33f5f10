/**
 * M1: a run's spend is the sum of its items', and never more than collections have told (D26).
 * Owns the one check; integers of nano-USD, so equality is exact.
 */
import type { RunItem, RunState } from '../../core/run/state.ts';
import type { WorldFacts } from '../world-facts.ts';
import { changedItems } from './changed-items.ts';
import type { Moment } from './checker.ts';

export function moneyIsConserved(moment: Moment): string | null {
  const { step, facts } = moment;
  const { spentNanoUsd, items } = step.after as RunState;
  const before = step.before as RunState | null;
  // What is added to the items is added to the run: from a run's first state on that is the same as one sum over all of them.
  let addedNanoUsd = 0;
  for (const index of changedItems(moment)) {
    const item = items[index] as RunItem;
    const wasNanoUsd = before?.items[index]?.costNanoUsd ?? 0;
    if (item.costNanoUsd === wasNanoUsd) continue;
    addedNanoUsd += item.costNanoUsd - wasNanoUsd;
    const problem = changed(item, wasNanoUsd, { step, facts });
    if (problem !== null) return problem;
  }
  const spentNow = spentNanoUsd - (before?.spentNanoUsd ?? 0);
  if (addedNanoUsd !== spentNow) return `it spent ${spentNow} nano-USD more, and its items ${addedNanoUsd}`;
  return spentNanoUsd > facts.toldNanoUsd
    ? `it spent ${spentNanoUsd} nano-USD of ${facts.toldNanoUsd} told`
    : null;
}

/** Only a collection changes what an item has cost, and to no more than its conversations were billed. */
function changed(item: RunItem, wasNanoUsd: number, { step, facts }: Moment): string | null {
  const { key, costNanoUsd } = item;
  if (step.event.type !== 'itemCollected' && step.event.type !== 'attemptEnded')
    return `${step.event.type} changed the cost of item "${key}"`;
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
