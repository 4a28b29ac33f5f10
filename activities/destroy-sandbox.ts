/**
 * destroySandbox: removes runtime and storage; gone is success.
 * Owns nothing else; the order archive before delete is the machine's (D12).
 */
import type { Handler } from './activity.ts';
import type { World } from './world.ts';

export const destroySandbox = (world: World): Handler<'destroySandbox'> => ({
  run: async (command) => {
    await world.runtime.destroy(command.sandboxId);
    return { type: 'sandboxDestroyed', commandId: command.id };
  },
  failed: (command, error) => ({ type: 'destroyFailed', commandId: command.id, reason: error.message }),
});
