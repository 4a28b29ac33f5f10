/**
 * reserveSlot: takes a capacity slot for a resume, or a place in the line of those who wait for one (D17, D29).
 * Owns the translation of the store's answer.
 */
import { userId } from '../core/ids.ts';
import type { Handler } from './activity.ts';
import { answerWait } from './make-room.ts';
import type { World } from './world.ts';

export const reserveSlot = (world: World): Handler<'reserveSlot'> => ({
  run: async (command) => {
    const user = userId(command.userId);
    const { sandboxId, generation, inRun = false, id: commandId } = command;
    const { capacity: limits, onFull } = world.deployment;
    const slot = await world.placement.reserveSlot({
      sandboxId,
      generation,
      userId: user,
      waits: inRun || onFull !== 'refuse',
      limits,
      now: world.clock.now(),
    });
    switch (slot.kind) {
      case 'granted':
        return { type: 'slotGranted', commandId };
      case 'waits': {
        const told = await answerWait(world, { userId: user, commandId, slots: slot.slots });
        return { type: 'slotWaits', commandId, ...told };
      }
      case 'refused':
        return {
          type: 'slotRefused',
          commandId,
          reason: `${slot.current} of ${slot.limit} sandboxes are up`,
        };
      case 'not_wanted':
        return { type: 'slotRefused', commandId, reason: 'the resume was given up' };
    }
  },
  failed: (command, error) => ({ type: 'slotRefused', commandId: command.id, reason: error.message }),
});
