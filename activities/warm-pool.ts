/**
 * warmPool: creates the sandboxes of a run's pool before its conversations need them.
 * Owns the ids and the order reserve, then create; the store decides how many there may be, and none is no failure.
 */
import type { CommandOf, MachineEvent } from '../core/machine/command.ts';
import { sandboxId, type SandboxId } from '../core/ids.ts';
import { warmedName } from '../core/placement/warmed-name.ts';
import type { Handler } from './activity.ts';
import type { World } from './world.ts';

export const warmPool = (world: World): Handler<'warmPool'> => ({
  run: (command) => warm(world, command),
  failed: (command, error) => ({
    type: 'poolWarmed',
    commandId: command.id,
    sandboxIds: idsOf(world, command),
    reason: error.message,
  }),
});

async function warm(world: World, command: CommandOf<'warmPool'>): Promise<MachineEvent> {
  const { id: commandId, runId: poolId, userId, size, host } = command;
  const { capacity, limits } = world.deployment;
  const sandboxIds: SandboxId[] = [];
  for (const id of idsOf(world, command)) {
    const pool = { poolId, size };
    const request = { sandboxId: id, userId, limits: capacity, now: world.clock.now(), pool, host };
    const slot = await world.placement.reserveSandbox(request);
    if (slot.kind !== 'granted')
      return { type: 'poolWarmed', commandId, sandboxIds, reason: 'there is no room for more' };
    await world.notifier.deliver({
      to: { machine: 'sandbox', id },
      event: { type: 'created', spec: { sandboxId: id, userId, createdBy: 'placement', limits } },
    });
    sandboxIds.push(id);
  }
  return { type: 'poolWarmed', commandId, sandboxIds, reason: null };
}

/** The same for a repeat, so that nothing is made twice. */
function idsOf({ keys }: World, command: CommandOf<'warmPool'>): readonly SandboxId[] {
  return Array.from({ length: command.size }, (_, number) =>
    sandboxId(keys.uuidOf(warmedName(command, number))),
  );
}
