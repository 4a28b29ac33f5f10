/**
 * The run machine: one batch job from its plan to its report as one pure step.
 * Owns the entry points a driver uses; the rules are in the transition table.
 */
import { stay, type Machine, type Step } from '../machine/machine.ts';
import type { RunItemRow } from '../machine/projection.ts';
import { runCell } from '../machine/transition-table.ts';
import { playStep, type Identified, type StepOptions } from '../machine/step-context.ts';
import { changedPositions } from './amend/changed-positions.ts';
import { pursue, runDeadline } from './control.ts';
import { itemRows, runRow } from './items/rows.ts';
import type { RunEvent, RunOrder } from './message.ts';
import { initRun } from './init.ts';
import { RUN_PARTS } from './parts.ts';
import { warmPool } from './admission/pool.ts';
import { FIRST_SEQUENCE } from './shards.ts';
import { hasEndedForGood } from './items-by-phase.ts';
import { type RunState } from './state.ts';
import { RUN_TABLE } from './table.ts';
import type { RunContext } from './run-context.ts';
import { directShards } from './shard-directives.ts';
import { runClockSet } from './working-time.ts';

export type RunCommand = Identified<RunOrder>;

/** Null before the first contact; only `runStarted` brings it to life. */
export const runMachine: Machine<RunState | null, RunEvent, RunCommand> = {
  name: 'run',
  step: stepRun,
  deadline: (state) => (state === null ? null : runDeadline(state)),
  done: (state) => state !== null && hasEndedForGood(state),
  // As long as something in it failed, a client may take it up again.
  rests: (state) => state?.phase === 'finished',
  clockSet: runClockSet,
  parts: RUN_PARTS,
};

function stepRun(state: RunState | null, event: RunEvent, now: number): Step<RunState | null, RunCommand> {
  if (state === null) return event.type === 'runStarted' ? init(event, now) : stay(state);
  return playStep(state, now, STEP, (context) => runCell(RUN_TABLE, state.phase, context, event));
}

function init(event: Extract<RunEvent, { type: 'runStarted' }>, now: number): Step<RunState, RunCommand> {
  const created = initRun(event.spec, now);
  return playStep(created, now, STEP, (context) => {
    warmPool(context);
    pursue(context);
  });
}

const STEP: StepOptions<RunState, RunOrder> = {
  prefixOf: (state) => `run/${state.runId}`,
  copy: (state) => ({ ...state }),
  settle: settleRun,
};

/** After every step of a run that changed something: it counts, projects, and directs its shards. */
function settleRun(before: RunState, context: RunContext): void {
  const { state } = context;
  state.sequence += 1;
  const isInit = before.sequence === 0;
  const changed = changedPositions(isInit ? [] : before.items, state.items);
  context.order({ type: 'project', rows: [runRow(state), ...rowsOfChanged(before, state, changed)] });
  directShards(before, context, isInit ? [] : changed);
}

/** A shard writes the rows of its items itself, from the first change on; the run writes what is older than that. */
function rowsOfChanged(before: RunState, state: RunState, changed: readonly number[]): readonly RunItemRow[] {
  if (state.shards === undefined) return itemRows(state, changed);
  const created = changed.filter((position) => before.sequence === 0 || position >= before.items.length);
  return itemRows({ ...state, sequence: FIRST_SEQUENCE }, created);
}
