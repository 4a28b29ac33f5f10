/**
 * removeConversation: record and transcript go, a tombstone stays (D11).
 * Owns the order: leave the sandbox in one transaction, then remove; every part may be repeated.
 */
import type { CommandOf } from '../core/machine/command.ts';
import type { Handler } from './activity.ts';
import { reachableAgent } from './agent-target.ts';
import { launchScope } from './launch-facts.ts';
import { offerRoomTo } from './offer-room.ts';
import { repositoryScope, secretScope } from './redaction.ts';
import type { World } from './world.ts';

export const removeConversation = (world: World): Handler<'removeConversation'> => ({
  run: async (command) => {
    const { conversationId, id: commandId } = command;
    const { sandboxId, sandboxToRemove } = await world.placement.detach(conversationId);
    // It may have been in the line, or in a sandbox that was never made, whose slot is free now.
    if (sandboxId === null || sandboxToRemove) await offerRoomTo(world);
    if (!sandboxToRemove) await forgetInAgent(world, command);
    await world.records.removeConversation(conversationId);
    await world.vault.removeScope(secretScope(conversationId));
    await world.vault.removeScope(repositoryScope(conversationId));
    await world.vault.removeScope(launchScope(conversationId));
    return { type: 'conversationRemoved', commandId, sandboxToRemove };
  },
  failed: (command) => ({ type: 'conversationRemoved', commandId: command.id, sandboxToRemove: false }),
});

/** In a sandbox that stays the agent forgets it, too; an agent that cannot be reached forgets it with its files. */
async function forgetInAgent(world: World, command: CommandOf<'removeConversation'>): Promise<void> {
  const record = await world.records.conversation(command.conversationId);
  if (record?.sandboxId == null) return;
  try {
    const target = await reachableAgent(world, {
      sandboxId: record.sandboxId,
      generation: command.generation,
    });
    await world.agent.deleteConversation(target, command.conversationId);
  } catch {
    // Not up, or not reachable: no client can read there what the agent would forget.
  }
}
