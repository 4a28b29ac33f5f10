/**
 * archiveWorkspace: a durable copy before anything is destroyed (D12).
 * Owns the key of the archive; internal, no user route reaches it.
 */
import { ParleyError } from '../core/parley-error.ts';
import type { Handler } from './activity.ts';
import type { World } from './world.ts';

export const archiveWorkspace = (world: World): Handler<'archiveWorkspace'> => ({
  run: async (command) => {
    const { sandboxId, generation } = command;
    const blobKey = `archives/${sandboxId}/${generation}.tgz`;
    const { sha256, bytes } = await world.blobs.put(blobKey, world.runtime.exportWorkspace(sandboxId));
    if (bytes === 0)
      throw new ParleyError(
        'workspace_unreadable',
        `Cannot archive sandbox "${sandboxId}": nothing was read`,
      );
    await world.archives.putArchive({ sandboxId, generation, blobKey, sha256, bytes, at: world.clock.now() });
    return { type: 'workspaceArchived', commandId: command.id };
  },
  failed: (command, error) => ({ type: 'archiveFailed', commandId: command.id, reason: error.message }),
});
