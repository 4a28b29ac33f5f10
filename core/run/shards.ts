/**
 * A run of very many items, whose items live in shards: which shard hosts what, and what the run leads itself.
 * Owns the numbers and addresses; what the run and its shards send each other is in core/run/shard-directives.ts and
 * core/run/reports.ts. Must not decide about an item.
 */
import type { EntityAddress, RunId } from '../ids.ts';
import { itemsByPhase } from './items-by-phase.ts';
import { itemAt, type RunItem, type RunSpec, type RunState } from './state.ts';

/** Bounds what one durable workflow hears, keeps and replays. */
export const SHARD_ITEMS_MAX = 500;

/** Where a run's shard of that number is reached; the first is 0. */
export function shardAddress(runId: RunId, number: number): EntityAddress {
  return { machine: 'shard', id: `${runId}.${number}` };
}

/** An item that is led to its end here; null when there is none, or when a shard leads it, to which directives go after the step. */
export function ledItem(state: RunState, index: number): RunItem | null {
  return state.shards === undefined ? (itemAt(state, index) ?? null) : null;
}

/** Those of them in flight, by their position. */
export function ledInFlight(state: RunState): readonly number[] {
  return state.shards === undefined ? itemsByPhase(state).inFlight : [];
}

/** None has said that it is there. */
export function initShards({ rules, items }: RunSpec): RunState['shards'] {
  return rules.shardItems === undefined ? undefined : grownShards({ shards: [], rules, items }, 0);
}

/** First rows, of whatever hosts the item: older than any that a shard writes. */
export const FIRST_SEQUENCE = 1;

/** After items were added: the shards that have more of them now, and the new ones, have not said so yet. */
export function grownShards(
  { shards, rules, items }: Pick<RunState, 'shards' | 'rules'> & { readonly items: readonly unknown[] },
  itemsBefore: number,
): RunState['shards'] {
  if (shards === undefined || rules.shardItems === undefined || items.length === itemsBefore) return shards;
  const firstGrown = Math.floor(itemsBefore / rules.shardItems);
  const count = Math.ceil(items.length / rules.shardItems);
  return Array.from({ length: count }, (_, number) => number < firstGrown && shards[number] === true);
}

/** Index of the first item of a shard, and of the first that is not its own. */
export function boundsOf({ rules, items }: Pick<RunState, 'rules' | 'items'>, number: number) {
  const size = rules.shardItems ?? items.length;
  return { from: number * size, to: Math.min(items.length, (number + 1) * size) };
}

/** Number of the shard that leads the item at `index`. */
export function shardOf({ rules, items }: Pick<RunState, 'rules' | 'items'>, index: number): number {
  return Math.floor(index / (rules.shardItems ?? items.length));
}
