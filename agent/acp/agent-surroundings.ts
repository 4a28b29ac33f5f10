/**
 * What an agent's program is started with: its variables, the folder of its state and its tool servers.
 * Owns how they follow from the conversation; starts nothing.
 */
import { join } from 'node:path';

import type { Conversation } from '../conversation/conversation.ts';
import { hexOf } from '../ids.ts';
import type { Log } from '../serve/log.ts';
import { McpConfigError, expandServer, type McpServers } from '../mcp/mcp-servers.ts';
import { shellEnvironment } from '../workspace/shell-environment.ts';
import { AcpError, agentVariables, type AcpAgent } from './acp-agent.ts';

export interface SessionSurroundings {
  readonly conversation: Conversation;
  /** A folder that outlives a stop, and that tools may write. */
  readonly workspaceDir: string;
  readonly secrets: () => Readonly<Record<string, string>>;
  readonly mask: (text: string) => string;
  readonly uuid: () => string;
  readonly log: Log;
}

/** In the folder of all workspaces of a sandbox, beside that of plugins. */
const AGENT_HOMES = '.agents';

/** @throws AcpError a key or a secret is not there */
export function agentEnvironment(around: SessionSurroundings, agent: AcpAgent): Record<string, string> {
  const { llm } = around.conversation.meta;
  const { apiKey } = around.conversation.arming;
  if (llm.needs_api_key && apiKey === null)
    throw new AcpError(
      'AgentConfigurationError',
      'Cannot start agent: the model key has not been given since the restart',
      { isConfiguration: true },
    );
  const secrets = around.secrets();
  return agentVariables({
    ...{ base: shellEnvironment(secrets), agent, secrets, home: agentHome(around) },
    access: { baseUrl: llm.base_url, model: modelName(llm.model), apiKey },
  });
}

export function agentHome({ workspaceDir, conversation }: SessionSurroundings): string {
  return join(workspaceDir, AGENT_HOMES, hexOf(conversation.id));
}

/** With their secrets. @throws AcpError a secret is not there */
export function filledServers(servers: McpServers, secrets: Readonly<Record<string, string>>): McpServers {
  try {
    const entries = Object.entries(servers).map(([name, server]) => [
      name,
      server.enabled ? expandServer(name, server, secrets) : server,
    ]);
    return Object.fromEntries(entries) as McpServers;
  } catch (error) {
    if (error instanceof McpConfigError)
      throw new AcpError('MCPConnectionError', error.message, { isConfiguration: true });
    throw error;
  }
}

/** As the proxy lists it. */
export function modelName(model: string): string {
  return model.replace(/^openai\//, '');
}
