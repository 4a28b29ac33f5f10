/**
 * One connection to a tool server: a program on pipes, or an address over HTTP.
 * Owns the client of the protocol and its end; must not know a conversation. Loaded when the first one is needed.
 */
import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { MCP_CALL_MS, MCP_CONNECT_MS, MCP_TOOLS_MAX, MCP_END_MS } from '../limits.ts';
import { startTool, type ToolProcess } from '../toolbox.ts';
import type { McpServer } from './mcp-servers.ts';

export interface McpTool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

interface McpResult {
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

interface ToolProgram {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/**
 * A tool server on pipes: a program in the tools' place that speaks the protocol on its standard input and output.
 * Owns its start and its end; the library's own way to start one knows no such place.
 */
class ToolPipes implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #what: ToolProgram;
  readonly #read = new ReadBuffer();
  #tool: ToolProcess | null = null;
  #ended: Promise<void> = Promise.resolve();

  constructor(what: ToolProgram) {
    this.#what = what;
  }

  /** @throws Error it cannot be started */
  async start(): Promise<void> {
    const { program, args, env, cwd } = this.#what;
    const tool = await startTool(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#tool = tool;
    const { child } = tool;
    this.#ended = new Promise((resolve) => {
      child.once('error', () => resolve());
      child.once('close', () => resolve());
    });
    void this.#ended.then(() => {
      this.#tool = null;
      this.onclose?.();
    });
    for (const stream of [child.stdin, child.stdout])
      stream?.on('error', (error: Error) => this.onerror?.(error));
    child.stdout?.on('data', (chunk: Buffer) => this.#received(chunk));
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input: Writable | null | undefined = this.#tool?.child.stdin;
    if (!input?.writable) throw new Error('Cannot send message: the tool server has ended');
    const isTaken = input.write(serializeMessage(message));
    if (isTaken) return;
    const drained = new Promise<void>((resolve) => input.once('drain', () => resolve()));
    await Promise.race([drained, this.#ended]);
  }

  /** Its input is closed first; then it is ended by signals, with all that it started in its group. */
  async close(): Promise<void> {
    const tool = this.#tool;
    tool?.child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (tool === null || (await this.#endedWithin(MCP_END_MS))) break;
      tool.signal(signal);
    }
    this.#read.clear();
  }

  async #endedWithin(ms: number): Promise<boolean> {
    const late = pause(ms, false, { ref: false });
    return await Promise.race([this.#ended.then(() => true), late]);
  }

  #received(chunk: Buffer): void {
    try {
      this.#read.append(chunk);
    } catch (error) {
      this.#failed(error);
      void this.close();
      return;
    }
    while (this.#tellNext());
  }

  /** False: no message is complete yet. What cannot be read is reported, and what follows it is still read. */
  #tellNext(): boolean {
    try {
      const message = this.#read.readMessage();
      if (message === null) return false;
      this.onmessage?.(message);
    } catch (error) {
      this.#failed(error);
    }
    return true;
  }

  #failed(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }
}
