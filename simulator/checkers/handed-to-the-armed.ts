/**
 * I25: an agent is handed something only when it is armed for this incarnation and its sandbox is in no transition, and
 * what was handed over leaves the queue (D7, D15, D19).
 * Owns the checks on orders of a conversation.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { Moment } from './checker.ts';

export function handedToTheArmed({ step }: Moment): string | null {
  const { event, commands } = step;
  const { sandbox, openGeneration, queue } = step.after as ConversationState;
  if (event.type === 'itemDelivered' && queue.some(({ itemId }) => itemId === event.itemId))
    return `message "${event.itemId}" was delivered, and is still queued`;
  for (const command of commands) {
    if (command.type === 'removeConversation' || !('generation' in command)) continue;
    const transition = sandbox?.transition ?? null;
    if (transition !== null) return `${command.type} is ordered, and the sandbox is ${transition}`;
    if (command.type === 'deliverItem' && openGeneration !== command.generation)
      return `an item is delivered, and the agent is armed for generation ${openGeneration ?? 'none'}`;
  }
  return null;
}
