/**
 * What an Agent Server says of a conversation, as the machine takes it.
 * Owns the translation; newest-wins is the machine's.
 */
import type { AgentReport } from '../core/conversation/message.ts';
import type { AgentConversationView } from '../ports/agent-server.ts';

export function reportOf(view: AgentConversationView, generation: number): AgentReport {
  return {
    status: view.executionStatus,
    pausedReason: view.pausedReason,
    at: view.updatedAt,
    generation,
    limitReached: view.iterationLimitReached ? 'turns' : null,
    retryAt: view.retryAt,
    detail: view.detail,
  };
}
