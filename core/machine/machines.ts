/**
 * Which machine hosts which entity, for every driver.
 * Owns the lookup with its one unavoidable loss of types; must not know a rule.
 */
import type { Command, MachineEvent } from './command.ts';
import { conversationMachine } from '../conversation/machine.ts';
import type { MachineName } from '../ids.ts';
import type { Machine } from './machine.ts';
import { runMachine } from '../run/machine.ts';
import { sandboxMachine } from '../sandbox/machine.ts';
import { shardMachine } from '../shard/machine.ts';

/** A machine whose state and events are opaque: the driver only carries them. */
export type HostedMachine = Machine<unknown, MachineEvent, Command>;

const MACHINES = {
  sandbox: sandboxMachine,
  conversation: conversationMachine,
  run: runMachine,
  shard: shardMachine,
} as const;

/** The machine that hosts entities of that name. */
export function machineOf(name: MachineName): HostedMachine {
  // Events are paired with their machine at the Notifier's border, where the compiler checks it.
  return MACHINES[name] as unknown as HostedMachine;
}
