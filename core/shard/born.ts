/**
 * The first state of a shard: a run of its items, without anything of its own to decide about who begins.
 * Owns first values; must not own a transition.
 */
import { bornRun } from '../run/born.ts';
import { SEQUENCE_AT_BIRTH } from '../run/shards.ts';
import type { RunRules } from '../run/rules.ts';
import type { RunState } from '../run/state.ts';
import type { ShardBirth } from './message.ts';

export function bornShard({ slice, ...birth }: ShardBirth, now: number): RunState {
  const born = bornRun({ ...birth, rules: rulesOfItems(birth.rules) }, now);
  return { ...born, sequence: SEQUENCE_AT_BIRTH, slice };
}

/** Places, pace, money and sandboxes are the whole run's; a shard keeps what an item needs to come to its end. */
function rulesOfItems({
  retry,
  wait,
  cleanup,
  sharesSandboxes,
  explicitSandboxId,
  pool,
  concurrency,
}: RunRules): RunRules {
  return {
    concurrency,
    sharesSandboxes,
    explicitSandboxId,
    ...(pool === undefined ? {} : { pool }),
    retry,
    breaker: null,
    budget: null,
    wait,
    cleanup,
    settleMs: null,
  };
}
