/**
 * The sandbox machine: a sandbox's whole life as one pure step.
 * Owns the entry points a driver and an edge use; the rules are in the transition table.
 */
import type { ErrorCode } from '../error-catalogue.ts';
import type { Machine, Step } from '../machine/machine.ts';
import { stay } from '../machine/machine.ts';
import { runCell } from '../machine/transition-table.ts';
import { takeTurn, type Identified, type TurnOptions } from '../machine/turn.ts';
import type { SandboxEvent, SandboxOrder } from './message.ts';
import { attach, sandboxDeadline } from './requests.ts';
import { initSandbox, copySandbox, type SandboxState } from './state.ts';
import { SANDBOX_TABLE } from './table.ts';
import { beginStart, settleSandbox } from './turn.ts';

export type SandboxCommand = Identified<SandboxOrder>;

/** Null before the first contact; `created`, or the request of its first conversation, brings it to life; anything earlier is ignored. */
export const sandboxMachine: Machine<SandboxState | null, SandboxEvent, SandboxCommand> = {
  name: 'sandbox',
  step: stepSandbox,
  deadline: (state) => (state === null ? null : sandboxDeadline(state)),
  // Conversations may still leave, and users may still ask, but nothing will ever be ordered again.
  done: (state) => state !== null && state.phase === 'missing',
  // Its storage is gone, and only a deletion leaves ERROR (D8).
  rests: (state) => state !== null && (state.phase === 'missing' || state.phase === 'errorEmpty'),
  clockSet: sandboxClockSet,
};

function stepSandbox(
  state: SandboxState | null,
  event: SandboxEvent,
  now: number,
): Step<SandboxState | null, SandboxCommand> {
  if (state === null) return firstContact(event, now);
  return takeTurn(state, now, TURN, (turn) => runCell(SANDBOX_TABLE, state.phase, turn, event));
}

/** The API creates a sandbox for its own sake; placement creates one together with its first conversation. */
function firstContact(event: SandboxEvent, now: number): Step<SandboxState | null, SandboxCommand> {
  if (event.type !== 'created' && event.type !== 'attachRequested') return stay(null);
  if (event.spec === null) return stay(null);
  const { spec } = event;
  return takeTurn(initSandbox(spec, now), now, TURN, (turn) => {
    beginStart(turn, spec.bootedAt);
    if (event.type === 'attachRequested') attach(turn, event);
  });
}

/** A wait for an answer has as long left as before; sessions, Idle Time and Deletion Time go by the wall clock (D10). */
function sandboxClockSet(state: SandboxState | null, byMs: number): SandboxState | null {
  if (state === null || state.phaseDeadline === null) return state;
  return { ...state, phaseDeadline: state.phaseDeadline + byMs };
}

const TURN: TurnOptions<SandboxState, SandboxOrder> = {
  prefixOf: (state) => `sandbox/${state.sandboxId}`,
  copy: copySandbox,
  settle: settleSandbox,
};

/** What an edge answers before it sends a request on; null when the request is acceptable (D8). */
export function refusalOf(
  state: Pick<SandboxState, 'status'>,
  request: 'pause' | 'resume' | 'delete',
): ErrorCode | null {
  if (request === 'delete') return null;
  if (state.status === 'ERROR') return 'sandbox_error';
  if (state.status === 'MISSING') return 'sandbox_missing';
  return null;
}
