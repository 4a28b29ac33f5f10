/**
 * cleanUpSandbox: a run pauses or deletes a sandbox, if only its own conversations are in it.
 * Owns the order claim, then request; a sandbox that holds any other conversation is left alone.
 */
import type { Handler } from './activity.ts';
import type { World } from './world.ts';

export const cleanUpSandbox = (world: World): Handler<'cleanUpSandbox'> => ({
  run: async (command) => {
    const { id: commandId, runId, sandboxId, how, whileRunning } = command;
    const claim = {
      sandboxId,
      runId,
      toRemove: how === 'delete',
      ...(whileRunning ? { onlyAtRest: true } : {}),
    };
    const claimed = await world.placement.claim(claim);
    if (claimed === 'busy')
      return { type: 'sandboxCleanedUp', commandId, sandboxId, isOurs: false, isBusy: true };
    const isOurs = claimed === 'ours';
    if (isOurs) {
      const event =
        how === 'delete'
          ? ({ type: 'deleteRequested', requestId: commandId } as const)
          : ({ type: 'pauseRequested', requestId: commandId, reason: 'user' } as const);
      await world.notifier.deliver({ to: { machine: 'sandbox', id: sandboxId }, event });
    }
    return { type: 'sandboxCleanedUp', commandId, sandboxId, isOurs };
  },
  failed: (command) => ({
    type: 'sandboxCleanedUp',
    commandId: command.id,
    sandboxId: command.sandboxId,
    isOurs: false,
  }),
});
