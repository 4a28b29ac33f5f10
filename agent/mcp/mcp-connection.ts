/**
 * One connection to a tool server: a program on pipes, or an address over HTTP.
 * Owns the client of the protocol and its end; must not know a conversation. Loaded when the first one is needed.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

import { MCP_CALL_MS, MCP_CONNECT_MS, MCP_TOOLS_MAX } from '../limits.ts';
import type { McpServer } from './mcp-servers.ts';
import { ToolPipes } from './tool-pipes.ts';

export interface McpTool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface McpResult {
  readonly text: string;
  readonly images: readonly string[];
  readonly isError: boolean;
}

export interface McpConnection {
  readonly tools: readonly McpTool[];
  readonly isOpen: () => boolean;
  call(name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpResult>;
  close(): Promise<void>;
}

/** @throws Error the server cannot be started or reached, or does not speak the protocol */
export async function connectMcp(server: McpServer, workingDir: string): Promise<McpConnection> {
  const client = new Client({ name: 'parley-agent', version: '0.1.0' });
  let open = true;
  client.onclose = () => (open = false);
  const timeout = MCP_CONNECT_MS;
  try {
    await client.connect(transportOf(server, workingDir), { timeout });
    const tools = client.getServerCapabilities()?.tools === undefined ? [] : await toolsOf(client);
    const callMs = server.timeout ? server.timeout * 1000 : MCP_CALL_MS;
    return {
      tools,
      isOpen: () => open,
      call: async (name, args, signal) => {
        const result = await client.callTool({ name, arguments: args }, undefined, {
          ...{ signal, timeout: callMs, resetTimeoutOnProgress: true },
        });
        return readResult(result);
      },
      close: () => client.close(),
    };
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
}

function transportOf(server: McpServer, workingDir: string): Transport {
  const { command, args, env, cwd, url, headers } = server;
  if (url) {
    // The library's own type is wider than its interface where properties may be absent.
    return new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { ...headers } },
    }) as Transport;
  }
  // Nothing of the server's own environment but what programs need to start.
  const variables = { ...getDefaultEnvironment(), ...env };
  return new ToolPipes({
    program: command ?? '',
    args: args ?? [],
    env: variables,
    cwd: cwd ?? workingDir,
  });
}

async function toolsOf(client: Client): Promise<McpTool[]> {
  const tools: McpTool[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: MCP_CONNECT_MS });
    tools.push(
      ...page.tools.map(({ name, description, inputSchema }) => ({
        name,
        description: description ?? name,
        inputSchema,
      })),
    );
    cursor = page.nextCursor;
  } while (cursor !== undefined && tools.length < MCP_TOOLS_MAX);
  return tools.slice(0, MCP_TOOLS_MAX);
}

interface ContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly resource?: { readonly uri: string; readonly text?: string };
}

function readResult(result: Awaited<ReturnType<Client['callTool']>>): McpResult {
  const blocks = (result.content ?? []) as readonly ContentBlock[];
  const texts = blocks.flatMap((block) => {
    if (block.type === 'text') return [block.text ?? ''];
    if (block.type === 'resource') return [block.resource?.text ?? `[${block.resource?.uri ?? 'resource'}]`];
    return block.type === 'image' ? [] : [`[${block.type}]`];
  });
  const images = blocks.flatMap(({ type, data, mimeType }) =>
    type === 'image' && data !== undefined ? [`data:${mimeType ?? 'image/png'};base64,${data}`] : [],
  );
  return { text: texts.join('\n'), images, isError: result.isError === true };
}
