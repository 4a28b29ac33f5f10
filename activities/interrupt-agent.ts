/**
 * interruptAgent: stops the agent's present work.
 * Owns nothing else; the agent's report says in which status it stopped.
 */
import type { Handler } from './activity.ts';
import { agentTarget } from './agent-target.ts';
import type { World } from './world.ts';

export const interruptAgent = (world: World): Handler<'interruptAgent'> => ({
  run: async (command) => {
    const target = await agentTarget(world, command);
    await world.agent.interrupt(target, command.conversationId);
    return { type: 'agentInterrupted', commandId: command.id };
  },
  failed: (command) => ({ type: 'agentInterrupted', commandId: command.id }),
});
