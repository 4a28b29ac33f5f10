/**
 * Every command of every machine, and every event that may answer one.
 * Owns the unions that drivers and activities share; must not add a rule.
 */
import type { ConversationEvent } from '../conversation/message.ts';
import type { ConversationCommand } from '../conversation/machine.ts';
import type { RunEvent } from '../run/message.ts';
import type { RunCommand } from '../run/machine.ts';
import type { ShardEvent } from '../shard/message.ts';
import type { SandboxEvent } from '../sandbox/message.ts';
import type { SandboxCommand } from '../sandbox/machine.ts';

/** Any command of any machine. */
export type Command = SandboxCommand | ConversationCommand | RunCommand;
export type CommandType = Command['type'];

/** Any event of any machine. */
export type MachineEvent = SandboxEvent | ConversationEvent | RunEvent | ShardEvent;

/** Commands that a driver carries out itself, inside its own transaction. */
export type DriverCommandType = 'project' | 'send' | 'cancelCommand';

/** Commands that an activity carries out. */
export type ActivityCommand = Exclude<Command, { readonly type: DriverCommandType }>;
export type ActivityCommandType = ActivityCommand['type'];

/** The command of one type. */
export type CommandOf<Type extends CommandType> = Extract<Command, { readonly type: Type }>;

/** Whether an activity carries it out, not the driver itself. */
export function isActivityCommand(command: Command): command is ActivityCommand {
  return command.type !== 'project' && command.type !== 'send' && command.type !== 'cancelCommand';
}
