/**
 * deliverItem: delivers one message, answer or "go on" to the agent, exactly once by its id.
 * Owns the order deliver, then read: the report that it returns is the state after the delivery. A message counts as
 * delivered once our log has it: what only the sandbox holds is lost with the sandbox, without any trace (D7).
 */
import type { CommandOf } from '../core/machine/command.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { AgentTarget } from '../ports/agent-server.ts';
import type { Handler } from './activity.ts';
import { reportOf } from './agent-report.ts';
import { agentTarget } from './agent-target.ts';
import { keepContact } from './sandbox-contact.ts';
import { syncNewest } from './transcript.ts';
import type { World } from './world.ts';

type Deliver = CommandOf<'deliverItem'>;

export const deliverItem = (world: World): Handler<'deliverItem'> => ({
  run: async (command) => {
    const { conversationId, generation, sandboxId, item } = command;
    const target = await agentTarget(world, command);
    await keepContact(world, sandboxId, { kind: 'delivery' });
    await handOver(world, target, command);
    const view = await world.agent.conversation(target, conversationId);
    if (view === null)
      throw new ParleyError(
        'agent_refused',
        `Cannot deliver to conversation "${conversationId}": the agent does not know it`,
      );
    if (item.kind === 'message') await syncNewest(world, target, conversationId);
    return {
      type: 'itemDelivered',
      commandId: command.id,
      itemId: item.itemId,
      report: reportOf(view, generation),
    };
  },
  failed: (command, error) => ({
    type: 'deliveryFailed',
    commandId: command.id,
    itemId: command.item.itemId,
    reason: error.message,
  }),
});

function handOver(world: World, target: AgentTarget, { conversationId, item }: Deliver): Promise<void> {
  switch (item.kind) {
    case 'message':
      return world.agent.sendMessage(target, conversationId, {
        messageId: world.keys.uuidOf(item.itemId),
        text: item.text,
        run: item.run,
      });
    case 'confirmation':
      return world.agent.answerConfirmation(target, conversationId, {
        accept: item.accept,
        reason: item.reason,
      });
    case 'continue':
      return world.agent.run(target, conversationId);
  }
}
