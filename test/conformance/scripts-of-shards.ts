/** Scripts about batches whose items live in shards. Owns the list: what a batch lives through, it lives through there, too. */
import type { Action, Script } from '../../simulator/script.ts';
import { WORK_SCRIPTS } from './scripts-of-work.ts';

const isBatch = ({ steps }: Script): boolean => steps.some(({ action }) => action.do === 'run');

type ShardItems = (items: number) => number;

/** `shardItems`: how many items a shard has, of so many; by default there are two shards, where there are items enough. */
export function inShards(script: Script, shardItems: ShardItems = (items) => Math.ceil(items / 2)): Script {
  const steps = script.steps.map(({ atMs, action }) => ({ atMs, action: sharded(action, shardItems) }));
  return { ...script, name: `in shards: ${script.name}`, steps };
}

function sharded(action: Action, shardItems: ShardItems): Action {
  if (action.do !== 'run') return action;
  return { ...action, shardItems: shardItems(action.plan.items.length) };
}

export const SHARD_SCRIPTS: readonly Script[] = WORK_SCRIPTS.filter(isBatch).map((one) => inShards(one));
