/**
 * createSandbox and resumeSandbox: brings an incarnation up.
 * Owns the check that it was not deleted meanwhile; must not decide what a failure means for the sandbox.
 */
import type { CommandOf, MachineEvent } from '../core/machine/command.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { Handler } from './activity.ts';
import { keepContact } from './sandbox-contact.ts';
import type { World } from './world.ts';

export const createSandbox = (world: World): Handler<'createSandbox'> => ({
  ...starter(world),
});
export const resumeSandbox = (world: World): Handler<'resumeSandbox'> => ({
  ...starter(world),
});

type StartCommand = CommandOf<'createSandbox'> | CommandOf<'resumeSandbox'>;

const starter = (world: World) => ({
  // The machine's own deadline cancels the command.
  run: (command: StartCommand): Promise<MachineEvent> => start(world, command),
  failed: (command: StartCommand, error: ParleyError): MachineEvent => {
    if (error.code === 'runtime_gone') return { type: 'runtimeGone', commandId: command.id };
    return { type: 'sandboxFailed', commandId: command.id, reason: error.message };
  },
});

async function start(world: World, command: StartCommand): Promise<MachineEvent> {
  const { sandboxId, generation, deadline } = command;
  const record = await world.records.sandbox(sandboxId);
  // A deletion that came in between is never undone (D14).
  if (record !== null && (record.transition === 'deleting' || record.status === 'MISSING')) {
    throw new ParleyError('runtime_failed', `Cannot start sandbox "${sandboxId}": it is being deleted`);
  }
  const sessionKey = world.keys.sessionKey(sandboxId, generation);
  const since = await upSince(world, command);
  await world.runtime.start({ sandboxId, generation, sessionKey, deadline });
  await keepContact(world, sandboxId, { kind: 'up', generation });
  return { type: 'sandboxReady', commandId: command.id, ...since };
}

/** The session of a warm sandbox counts from its boot, unless it has died and this start boots it again (D10). */
async function upSince(world: World, command: StartCommand): Promise<{ readonly bootedAt?: number }> {
  if (command.type !== 'createSandbox' || command.bootedAt === undefined) return {};
  const presence = await world.runtime.inspect(command.sandboxId);
  return presence.kind === 'up' ? { bootedAt: command.bootedAt } : {};
}
