/**
 * The tools that a conversation's tool servers bring, as tools of the agent.
 * Owns when servers are connected (at a run, not at a start), the names of their tools, and the form of an action.
 */
import { textContent, type Action, type Content, type Observation } from '../conversation/event.ts';
import { OBSERVATION_CHARS_MAX } from '../limits.ts';
import { messageOf } from '../serve/log.ts';
import { boundText } from '../text-bound.ts';
import { COMMON_PARAMETERS, ToolArgumentError, type Tool, type ToolSurroundings } from '../tools/tool.ts';
import type { McpConnection, McpTool } from './mcp-connection.ts';
import { expandServer, type McpServers } from './mcp-servers.ts';

/** A tool server that a run cannot do without is not there; the message says which and why. */
export class McpConnectionError extends Error {}

interface Connected {
  readonly name: string;
  readonly connection: McpConnection;
}

export class McpTools {
  readonly #around: ToolSurroundings;
  #servers: McpServers;
  #connected: readonly Connected[] = [];
  #tools: readonly Tool[] = [];
  #isStale = true;

  constructor(servers: McpServers, around: ToolSurroundings) {
    this.#servers = servers;
    this.#around = around;
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Other values of the same servers, after a restart or with new keys; the next run connects anew. */
  arm(servers: McpServers): void {
    if (JSON.stringify(servers) === JSON.stringify(this.#servers)) return;
    this.#servers = servers;
    this.#isStale = true;
  }

  /** Connects what is not connected. @throws McpConnectionError */
  async connect(): Promise<void> {
    const isUp = !this.#isStale && this.#connected.every(({ connection }) => connection.isOpen());
    if (isUp) return;
    this.close();
    const enabled = Object.entries(this.#servers).filter(([, server]) => server.enabled);
    const connected: Connected[] = [];
    try {
      for (const [name, server] of enabled) {
        const expanded = expandServer(name, server, this.#around.secrets());
        const { connectMcp } = await import('./mcp-connection.ts');
        connected.push({ name, connection: await connectMcp(expanded, this.#around.workingDir) });
      }
    } catch (error) {
      for (const { connection } of connected) void connection.close().catch(() => undefined);
      const name = enabled[connected.length]?.[0] ?? '';
      throw new McpConnectionError(`Cannot connect tool server "${name}": ${messageOf(error)}`, {
        cause: error,
      });
    }
    this.#connected = connected;
    this.#tools = toolsOf(connected, this.#around);
    this.#isStale = false;
  }

  close(): void {
    for (const { connection } of this.#connected) void connection.close().catch(() => undefined);
    this.#connected = [];
    this.#tools = [];
    this.#isStale = true;
  }
}

/** With several servers a tool is named after its server, too: names of tools are not theirs alone. */
function toolsOf(connected: readonly Connected[], around: ToolSurroundings): Tool[] {
  return connected.flatMap(({ name: server, connection }) =>
    connection.tools.map((tool) => {
      const full = connected.length > 1 ? `${server}_${tool.name}` : tool.name;
      return asTool({ name: full.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64), tool, connection }, around);
    }),
  );
}

function asTool(
  given: { readonly name: string; readonly tool: McpTool; readonly connection: McpConnection },
  around: ToolSurroundings,
): Tool {
  const { name, tool, connection } = given;
  const { properties, ...schema } = tool.inputSchema as { readonly properties?: object };
  return {
    name,
    title: tool.name,
    description: tool.description,
    actionKind: 'MCPToolAction',
    parameters: { type: 'object', ...schema, properties: { ...properties, ...COMMON_PARAMETERS } },
    // What a tool server says of its own tools is no reason not to ask.
    needsNoConfirmation: false,
    parse: (input) => {
      if (typeof input !== 'object' || input === null || Array.isArray(input))
        throw new ToolArgumentError(`Cannot call tool "${name}": arguments are no object`);
      return { data: input, kind: 'MCPToolAction' };
    },
    run: (action, signal) => runTool(given, { action, signal }, around),
    // The connection is closed with the others.
    close: () => undefined,
  };

  async function runTool(
    { tool: { name: toolName } }: typeof given,
    call: { readonly action: Action; readonly signal: AbortSignal },
    { mask }: ToolSurroundings,
  ): Promise<Observation> {
    const result = await connection
      .call(toolName, call.action['data'] as Record<string, unknown>, call.signal)
      .catch((error: unknown) => ({ text: messageOf(error), images: [], isError: true }));
    const image: Content[] =
      result.images.length === 0 ? [] : [{ type: 'image', image_urls: result.images, cache_prompt: false }];
    return {
      content: [textContent(boundText(mask(result.text), OBSERVATION_CHARS_MAX)), ...image],
      is_error: result.isError,
      tool_name: toolName,
      kind: 'MCPToolObservation',
    };
  }
}
