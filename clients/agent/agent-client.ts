/**
 * The Agent Server's port over HTTP.
 * Owns putting the parts together and their end; the endpoints are in conversation-calls.ts, workspace-calls.ts and
 * surface-calls.ts, and what a real OpenHands server wants said otherwise in openhands-dialect.ts.
 */
import type { AgentServer } from '../../ports/agent-server.ts';
import { createCaller } from './call.ts';
import { createConnections } from './connections.ts';
import { createConversationCalls } from './conversation-calls.ts';
import { CALL_TIMEOUT_MS } from './limits.ts';
import { openhandsDialect } from './openhands-dialect.ts';
import { createSurfaceCalls } from './surface-calls.ts';
import type { AgentDialect } from './wire.ts';
import { createWorkspaceCalls } from './workspace-calls.ts';

/** The port of the Agent Server, with the connections that it keeps. */
export interface AgentClient extends AgentServer {
  /** Breaks running calls. */
  close(): Promise<void>;
}

interface AgentClientOptions {
  /** Bounds every call but `execute`, whose own time is added to a margin; default 30 s. */
  readonly timeoutMs?: number;
  /** Which server is spoken to; the reference one by default. */
  readonly dialect?: AgentDialect;
  /** As of createAgentRelay; absent: it leads to no other host. */
  readonly hostKey?: Uint8Array;
}

/** Opens nothing until the first call. */
export function createAgentClient(options: AgentClientOptions = {}): AgentClient {
  const { timeoutMs = CALL_TIMEOUT_MS, dialect = 'reference', hostKey = null } = options;
  const connections = createConnections(hostKey);
  const call = createCaller(connections, timeoutMs);
  const base: AgentServer = {
    ...createConversationCalls(call, dialect),
    ...createWorkspaceCalls(call),
    ...createSurfaceCalls(call),
  };
  const own = dialect === 'openhands' ? openhandsDialect(call, base) : {};
  return { ...base, ...own, close: () => connections.close() };
}
