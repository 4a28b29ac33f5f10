/**
 * An item of a run as its host knows it: the run itself, or one of its shards.
 * Owns the lookup; must not compute what a machine decides.
 */
import type { EntityAddress } from '../core/ids.ts';
import { ledItem, shardAddress, shardOf } from '../core/run/shards.ts';
import { itemAt, type RunItem, type RunState } from '../core/run/state.ts';

interface States {
  stateOf(address: EntityAddress): unknown;
}

/** A shard that is not there yet knows nothing more than its run. */
export function hostedItem(states: States, run: RunState, index: number): RunItem | null {
  const shard = () => states.stateOf(shardAddress(run.runId, shardOf(run, index)));
  return ledItem(run, index) ?? itemAt((shard() ?? run) as RunState, index) ?? null;
}
