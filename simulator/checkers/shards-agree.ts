/**
 * L11: a run and its shards know the same of every item.
 * Owns the comparison of what has come to rest; an item in flight is so for both, in whatever phase its shard has it.
 */
import { addressKey } from '../../core/ids.ts';
import { shardAddress, shardOf } from '../../core/run/shards.ts';
import { isInFlight, itemAt, type RunItem, type RunState } from '../../core/run/state.ts';
import type { Finding, Rest } from './checker.ts';
import { runsAt, shardsAt } from './states-at-rest.ts';

export function shardsAgree(rest: Rest): readonly Finding[] {
  const shards = new Map(shardsAt(rest).map(({ entity, state }) => [entity, state]));
  return runsAt(rest).flatMap(({ entity, state }) =>
    state.shards === undefined ? [] : disagreements(entity, state, shards),
  );
}

function disagreements(
  entity: string,
  run: RunState,
  shards: ReadonlyMap<string, RunState>,
): readonly Finding[] {
  return run.items.flatMap((item, index) => {
    const shard = shards.get(addressKey(shardAddress(run.runId, shardOf(run, index))));
    const own = shard === undefined ? undefined : itemAt(shard, index);
    if (own !== undefined && known(own) === known(item)) return [];
    const said = own === undefined ? 'has no shard' : `is ${known(own)} in its shard`;
    return [{ entity, problem: `item "${item.key}" is ${known(item)}, and ${said}` }];
  });
}

function known(item: RunItem): string {
  const phase = isInFlight(item) ? 'in flight' : item.phase;
  return `${phase} in attempt ${item.attempt} for ${item.costNanoUsd} nano-USD`;
}
