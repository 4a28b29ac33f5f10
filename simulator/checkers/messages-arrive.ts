/**
 * L5: every accepted message was delivered or refused, unless it is on its way or its conversation was deleted.
 * Owns the one check; queues are on their way only while somebody works on them.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { Finding, Rest } from './checker.ts';
import { conversationsAt } from './states-at-rest.ts';

export function messagesArrive(rest: Rest): readonly Finding[] {
  const { facts } = rest;
  const states = new Map(conversationsAt(rest).map(({ state }) => [state.birth.conversationId, state]));
  const found: Finding[] = [];
  for (const [messageId, id] of facts.accepted) {
    const state = states.get(id);
    if (state === undefined || state.phase === 'deleting' || state.phase === 'deleted') continue;
    if (facts.delivered.has(messageId) || facts.refused.has(messageId)) continue;
    if (isOnItsWay(state)) continue;
    found.push({
      entity: `conversation/${id}`,
      problem: `message "${messageId}" was neither delivered nor refused`,
    });
  }
  return found;
}

/** Starting, resuming, or in the hands of a command. */
function isOnItsWay({ queue, awaiting, resumeRequestId, startDeadline }: ConversationState): boolean {
  return queue.length > 0 && (awaiting !== null || resumeRequestId !== null || startDeadline !== null);
}
