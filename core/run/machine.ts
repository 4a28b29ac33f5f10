/**
 * The run machine: one batch job from its plan to its report as one pure step.
 * Owns the entry points a driver uses; the rules are in the transition table.
 */
import { stay, type Machine, type Step } from '../machine.ts';
import { runCell } from '../transition-table.ts';
import { takeTurn, type Identified, type TurnOptions } from '../turn.ts';
import { pursue, runDeadline } from './control.ts';
import type { RunEvent, RunOrder } from './message.ts';
import { bornRun } from './born.ts';
import { RUN_PARTS } from './parts.ts';
import { warmPool } from './pool.ts';
import { settleRun } from './settle.ts';
import { hasEndedForGood } from './standing.ts';
import { copyRun, type RunState } from './state.ts';
import { RUN_TABLE } from './table.ts';
import { runClockSet } from './working-time.ts';

export type RunCommand = Identified<RunOrder>;

/** Null before the first contact; only `runStarted` brings it to life. */
export const runMachine: Machine<RunState | null, RunEvent, RunCommand> = {
  name: 'run',
  step: stepRun,
  deadline: (state) => (state === null ? null : runDeadline(state)),
  done: (state) => state !== null && hasEndedForGood(state),
  // As long as something in it failed, somebody may take it up again.
  rests: (state) => state?.phase === 'finished',
  clockSet: runClockSet,
  parts: RUN_PARTS,
};

function stepRun(state: RunState | null, event: RunEvent, now: number): Step<RunState | null, RunCommand> {
  if (state === null) return event.type === 'runStarted' ? birth(event, now) : stay(state);
  return takeTurn(state, now, TURN, (turn) => runCell(RUN_TABLE, state.phase, turn, event));
}

function birth(event: Extract<RunEvent, { type: 'runStarted' }>, now: number): Step<RunState, RunCommand> {
  const born = bornRun(event.birth, now);
  return takeTurn(born, now, TURN, (turn) => {
    warmPool(turn);
    pursue(turn);
  });
}

const TURN: TurnOptions<RunState, RunOrder> = {
  prefixOf: (state) => `run/${state.runId}`,
  copy: copyRun,
  settle: settleRun,
};
