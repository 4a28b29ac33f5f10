/**
 * The request that opens a conversation on an Agent Server whose model is never called.
 * Owns its values; a test adds what it is about.
 */
import { conversationId } from '../../core/ids.ts';
import type { AgentConversationRequest } from '../../ports/agent-server.ts';
import { newId } from './runtime-suite.ts';

export function agentConversation(
  workingDir: string,
  more: Partial<AgentConversationRequest> = {},
): AgentConversationRequest {
  return {
    conversationId: conversationId(newId()),
    workingDir,
    llm: {
      model: 'none',
      baseUrl: 'http://127.0.0.1:4100/v1',
      apiKey: 'virtual-key',
      extraHeaders: {},
      sessionHeader: 'x-proxyvendor-session-id',
    },
    secrets: {},
    tags: {},
    iterationsMax: 10,
    confirmation: 'never',
    userId: 'u1',
    ...more,
  };
}
