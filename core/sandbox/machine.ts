/**
 * The sandbox machine: a sandbox's whole life as one pure step.
 * Owns the entry points a driver and an edge use; the rules are in the transition table.
 */
import type { ErrorCode } from '../error-catalogue.ts';
import type { Machine, Step } from '../machine/machine.ts';
import { stay } from '../machine/machine.ts';
import { runCell } from '../machine/transition-table.ts';
import { playStep, type Identified, type StepOptions } from '../machine/step-context.ts';
import type { SandboxEvent, SandboxOrder } from './message.ts';
import { attach, sandboxDeadline } from './requests.ts';
import { initSandbox, type SandboxState } from './state.ts';
import { SANDBOX_TABLE } from './table.ts';
import { beginStart, settleSandbox } from './sandbox-context.ts';

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
  return playStep(state, now, STEP, (context) => runCell(SANDBOX_TABLE, state.phase, context, event));
}

/** The API creates a sandbox for its own sake; placement creates one together with its first conversation. */
function firstContact(event: SandboxEvent, now: number): Step<SandboxState | null, SandboxCommand> {
  if (event.type !== 'created' && event.type !== 'attachRequested') return stay(null);
  if (event.spec === null) return stay(null);
  const { spec } = event;
  return playStep(initSandbox(spec, now), now, STEP, (context) => {
    beginStart(context, spec.bootedAt);
    if (event.type === 'attachRequested') attach(context, event);
  });
}

/** A wait for an answer has as long left as before; sessions, Idle Time and Deletion Time go by the wall clock (D10). */
function sandboxClockSet(state: SandboxState | null, byMs: number): SandboxState | null {
  if (state === null || state.phaseDeadline === null) return state;
  return { ...state, phaseDeadline: state.phaseDeadline + byMs };
}

const STEP: StepOptions<SandboxState, SandboxOrder> = {
  prefixOf: (state) => `sandbox/${state.sandboxId}`,
  copy: (state) => ({ ...state }),
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
