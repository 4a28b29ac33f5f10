/**
 * The shard machine: some items of a large run, from wish to report, as one pure step.
 * Owns the entry points a driver uses; the rules are in the transition table, and who begins is the run's decision.
 */
import { stay, type Machine, type Step } from '../machine/machine.ts';
import { initRun } from '../run/init.ts';
import { itemsDeadline } from '../run/items/items.ts';
import type { RunOrder } from '../run/message.ts';
import { RUN_PARTS } from '../run/parts.ts';
import type { RunRules } from '../run/rules.ts';
import { FIRST_SEQUENCE } from '../run/shards.ts';
import { copyRun, type RunState } from '../run/state.ts';
import { hostKey } from '../run/run-context.ts';
import { runClockSet } from '../run/working-time.ts';
import { runCell } from '../machine/transition-table.ts';
import { playStep, type Identified, type StepOptions } from '../machine/step-context.ts';
import { hasClosedForGood, tellReady } from './items.ts';
import type { ShardSpec, ShardEvent } from './message.ts';
import { SHARD_TABLE, type ShardPhase } from './table.ts';
import { settleShard } from './shard-context.ts';

export type ShardCommand = Identified<RunOrder>;

/** Null before the first contact; only `shardStarted` brings it to life. */
export const shardMachine: Machine<RunState | null, ShardEvent, ShardCommand> = {
  name: 'shard',
  step: stepShard,
  deadline: (state) => (state?.phase === 'running' ? itemsDeadline(state) : null),
  done: (state) => state !== null && hasClosedForGood(state),
  rests: (state) => state?.phase === 'finished',
  clockSet: runClockSet,
  parts: RUN_PARTS,
};

function stepShard(
  state: RunState | null,
  event: ShardEvent,
  now: number,
): Step<RunState | null, ShardCommand> {
  if (state === null) return event.type === 'shardStarted' ? init(event, now) : stay(state);
  // The phases of a shard are two of a run's.
  const phase = state.phase as ShardPhase;
  return playStep(state, now, STEP, (context) => runCell(SHARD_TABLE, phase, context, event));
}

function init(
  event: Extract<ShardEvent, { type: 'shardStarted' }>,
  now: number,
): Step<RunState, ShardCommand> {
  const created = initShard(event.spec, now);
  return playStep(created, now, STEP, tellReady);
}

const STEP: StepOptions<RunState, RunOrder> = {
  prefixOf: hostKey,
  copy: copyRun,
  settle: settleShard,
};

/** The first state of a shard: a run of its items, without anything of its own to decide about who begins. */
function initShard({ slice, ...spec }: ShardSpec, now: number): RunState {
  const created = initRun({ ...spec, rules: rulesOfItems(spec.rules) }, now);
  return { ...created, sequence: FIRST_SEQUENCE, slice };
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
