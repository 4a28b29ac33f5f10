/**
 * cleanUpSandbox: a run lets go of a sandbox, if nobody but its own conversations is in it.
 * Owns the order claim, then ask; a sandbox with somebody else's conversation is left alone.
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
