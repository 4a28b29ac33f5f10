/**
 * The entities of one machine, with their keys.
 * Owns the one unavoidable loss of types; must not judge.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import { addressKey, type MachineName } from '../../core/ids.ts';
import type { RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { Rest } from './checker.ts';

export interface At<State> {
  readonly entity: string;
  readonly state: State;
}

export function sandboxesAt(rest: Rest): readonly At<SandboxState>[] {
  return of<SandboxState>(rest, 'sandbox');
}

export function conversationsAt(rest: Rest): readonly At<ConversationState>[] {
  return of<ConversationState>(rest, 'conversation');
}

export function runsAt(rest: Rest): readonly At<RunState>[] {
  return of<RunState>(rest, 'run');
}

export function shardsAt(rest: Rest): readonly At<RunState>[] {
  return of<RunState>(rest, 'shard');
}

function of<State>({ entities }: Rest, machine: MachineName): readonly At<State>[] {
  return entities
    .filter(({ address, state }) => address.machine === machine && state !== null)
    .map(({ address, state }) => ({ entity: addressKey(address), state: state as State }));
}
