/** Scripts about batches whose items live in shards. Owns the list: what a batch lives through, it lives through there, too. */
import type { Action, Script } from '../../simulator/script.ts';
import { WORK_SCRIPTS } from './scripts-of-work.ts';

const isBatch = ({ steps }: Script): boolean => steps.some(({ action }) => action.do === 'run');

/** Two shards by default, where there are items enough. */
export function inShards(script: Script, shards = 2): Script {
  const steps = script.steps.map(({ atMs, action }) => ({ atMs, action: sharded(action, shards) }));
  return { ...script, name: `in shards: ${script.name}`, steps };
}

function sharded(action: Action, shards: number): Action {
  if (action.do !== 'run') return action;
  return { ...action, shardItems: Math.ceil(action.plan.items.length / shards) };
}

export const SHARD_SCRIPTS: readonly Script[] = WORK_SCRIPTS.filter(isBatch).map((one) => inShards(one));
