/**
 * reserveSlot: takes a capacity slot for a resume (D17).
 * Owns the translation of the store's answer; the policy for a full installation is in capacity.ts.
 */
import { userId } from '../core/ids.ts';
import { PATIENT, type Activity } from './activity.ts';
import { meetFullCapacity } from './capacity.ts';
import type { World } from './world.ts';

export const reserveSlot = (world: World): Activity<'reserveSlot'> => ({
  type: 'reserveSlot',
  retry: PATIENT,
  run: async (command) => {
    const user = userId(command.userId);
    const { sandboxId, id: commandId } = command;
    const { capacity: limits } = world.deployment;
    const slot = await world.placement.reserveSlot({
      sandboxId,
      generation: command.generation,
      userId: user,
      limits,
      now: world.clock.now(),
    });
    if (slot.kind === 'not_wanted')
      return { type: 'slotRefused', commandId, reason: 'the resume was given up' };
    if (slot.kind === 'granted') return { type: 'slotGranted', commandId };
    await meetFullCapacity(world, { userId: user, commandId });
    return { type: 'slotRefused', commandId, reason: `${slot.current} of ${slot.limit} sandboxes are up` };
  },
  failed: (command, error) => ({ type: 'slotRefused', commandId: command.id, reason: error.message }),
});
