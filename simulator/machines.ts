/**
 * Which machine of core/ hosts which entity.
 * Owns the lookup with its one unavoidable loss of types; must not know a rule.
 */
import type { Command, MachineEvent } from '../core/command.ts';
import { conversationMachine } from '../core/conversation/machine.ts';
import type { MachineName } from '../core/ids.ts';
import type { Machine } from '../core/machine.ts';
import { runMachine } from '../core/run/machine.ts';
import { sandboxMachine } from '../core/sandbox/machine.ts';

/** A machine whose state and events are opaque: the driver only carries them. */
export type HostedMachine = Machine<unknown, MachineEvent, Command>;

const MACHINES = {
  sandbox: sandboxMachine,
  conversation: conversationMachine,
  run: runMachine,
} as const;

export function hostedMachine(name: MachineName): HostedMachine {
  return MACHINES[name] as unknown as HostedMachine;
}
