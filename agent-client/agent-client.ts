/**
 * The Agent Server's port over HTTP.
 * Owns putting the parts together and their end; the endpoints are in conversation-calls.ts and workspace-calls.ts.
 */
import type { AgentServer } from '../ports/agent-server.ts';
import { createCaller } from './call.ts';
import { createConnections } from './connections.ts';
import { createConversationCalls } from './conversation-calls.ts';
import { CALL_TIMEOUT_MS } from './limits.ts';
import { createWorkspaceCalls } from './workspace-calls.ts';

export interface AgentClient extends AgentServer {
  /** Breaks running calls. */
  close(): Promise<void>;
}

/** `timeoutMs` bounds every call but `execute`, whose own time is added to a margin; default 30 s. */
export function createAgentClient(options: { readonly timeoutMs?: number } = {}): AgentClient {
  const connections = createConnections();
  const call = createCaller(connections, options.timeoutMs ?? CALL_TIMEOUT_MS);
  return {
    ...createConversationCalls(call),
    ...createWorkspaceCalls(call),
    close: () => connections.close(),
  };
}
