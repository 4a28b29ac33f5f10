/**
 * The shard machine: some items of a large run, from directive to report, as one pure step.
 * Owns the entry points a driver uses; the rules are in the transition table, and who begins is the run's decision.
 */
import { stay, type Machine, type Step } from '../machine/machine.ts';
import { changedPositions } from '../run/amend/changed-positions.ts';
import { initRun } from '../run/init.ts';
import { itemsDeadline } from '../run/items/item-deadlines.ts';
import { itemRows } from '../run/items/rows.ts';
import type { RunOrder } from '../run/message.ts';
import { RUN_PARTS } from '../run/parts.ts';
import type { RunRules } from '../run/rules.ts';
import { FIRST_SEQUENCE } from '../run/shards.ts';
import { type RunState, indexAt, isInFlight, type RunItem } from '../run/state.ts';
import { hostKey, type RunContext } from '../run/run-context.ts';
import { runClockSet } from '../run/working-time.ts';
import { runCell } from '../machine/transition-table.ts';
import { playStep, type Identified, type StepOptions } from '../machine/step-context.ts';
import { hasClosedForGood, reportReady } from './items.ts';
import type { ShardSpec, ShardEvent } from './message.ts';
import { SHARD_TABLE, type ShardPhase } from './table.ts';

/**
 * What a shard reports after every step that changed something: rows of its items, and attempts that have ended.
 * Owns no decision about items.
 */
function settleShard(before: RunState, context: RunContext): void {
  const { state } = context;
  state.sequence += 1;
  const changed = changedPositions(before.items, state.items);
  if (changed.length > 0) context.order({ type: 'project', rows: itemRows(state, changed) });
  for (const position of changed) {
    const [was, is] = [before.items[position], state.items[position]];
    if (was !== undefined && is !== undefined && hasEnded(was, is))
      reportAttempt(context, indexAt(state, position), is);
  }
}

function hasEnded(was: RunItem, is: RunItem): boolean {
  return isInFlight(was) && !isInFlight(is);
}

function reportAttempt(context: RunContext, index: number, item: RunItem): void {
  const { state } = context;
  if (item.ending === null) return;
  const { attempt, phase, ending, notBefore, costNanoUsd, conversationId, sandboxId, sandboxStatus } = item;
  const event = {
    type: 'attemptEnded',
    index,
    attempt,
    phase: phase === 'waiting' ? 'waiting' : 'ended',
    ending,
    notBefore,
    costNanoUsd,
    conversationId,
    sandboxId,
    sandboxStatus,
    // A shard remembers of sandboxes only which must be kept because of what could not be collected.
    isUncollected: state.sandboxes.some((kept) => kept.sandboxId === sandboxId),
  } as const;
  context.order({ type: 'send', to: { machine: 'run', id: state.runId }, event });
}

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
  return playStep(created, now, STEP, reportReady);
}

const STEP: StepOptions<RunState, RunOrder> = {
  prefixOf: hostKey,
  copy: (state) => ({ ...state }),
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
