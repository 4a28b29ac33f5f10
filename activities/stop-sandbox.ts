/**
 * stopSandbox: frees CPU and memory, keeps the files (D6).
 * Owns the last read of the transcripts before the agent goes; an unreachable agent does not hold the stop up.
 */
import type { CommandOf } from '../core/machine/command.ts';
import type { Handler } from './activity.ts';
import { agentTarget } from './agent-target.ts';
import { syncTranscript } from './transcript.ts';
import type { World } from './world.ts';

export const stopSandbox = (world: World): Handler<'stopSandbox'> => ({
  run: async (command) => {
    await lastRead(world, command);
    const { sandboxId, generation } = command;
    await world.runtime.stop({ sandboxId, generation });
    return { type: 'sandboxStopped', commandId: command.id };
  },
  failed: (command, error) => ({ type: 'stopFailed', commandId: command.id, reason: error.message }),
});

/** What was not read now can still be read after a resume, or from the archive: best effort. */
async function lastRead(world: World, command: CommandOf<'stopSandbox'>): Promise<void> {
  try {
    const target = await agentTarget(world, command);
    const attached = await world.records.conversations({ sandboxId: command.sandboxId });
    for (const { conversationId, startTask } of attached) {
      if (startTask === 'READY') await syncTranscript(world, target, conversationId);
    }
  } catch {
    // The agent is gone or silent; the stop itself is what was asked for.
  }
}
