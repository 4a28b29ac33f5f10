/**
 * The tools as a server of the Model Context Protocol, for one client.
 * Owns the translation between the protocol and the tools; transports are handed in.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type ServerNotification,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { CONVERSATION_TOOLS } from './conversation-tools.ts';
import type { McpDesk, Tool } from './mcp-tool.ts';
import { RUN_TOOLS } from './run-tools.ts';
import { answerCall } from './tool-answer.ts';
import { WORK_TOOLS } from './work-tools.ts';

export const MCP_TOOLS: readonly Tool[] = [...CONVERSATION_TOOLS, ...RUN_TOOLS, ...WORK_TOOLS];

const INSTRUCTIONS =
  'Parley runs coding agents in sandboxes. Delegate one task with "start" and read it with "status" and "events"; delegate many with a job: "plan" to look, "run" to start. What they made is in "results". Work goes on when a call is given up; "cancel" ends it.';

export interface McpServerOptions {
  readonly desk: McpDesk;
  readonly version: string;
  readonly hidden: readonly string[];
  onBug(error: unknown): void;
}

export function createMcpServer({ desk, version, hidden, onBug }: McpServerOptions): Server {
  const server = new Server(
    { name: 'parley', title: 'Parley', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.onerror = onBug;
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: LISTED }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = MCP_TOOLS.find(({ name }) => name === params.name);
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool "${params.name}"`);
    const progress = progressOf(params._meta?.progressToken, extra.sendNotification);
    const { signal } = extra;
    return await answerCall(tool, params.arguments, { desk, signal, hidden, progress, onBug });
  });
  return server;
}

type SendNotification = (notification: ServerNotification) => Promise<void>;

/** Counted up with each word, as the protocol wants; how far the work is stands in the words. */
function progressOf(token: string | number | undefined, send: SendNotification): (message: string) => void {
  let progress = 0;
  return (message) => {
    if (token === undefined) return;
    progress += 1;
    const params = { progressToken: token, progress, message };
    // A client that has left hears nothing, and that is no fault.
    send({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

type ObjectSchema = { readonly type: 'object'; readonly [key: string]: unknown };

const LISTED = MCP_TOOLS.map(({ name, title, description, annotations, input, output }) => ({
  name,
  title,
  description,
  annotations: { ...annotations, title },
  inputSchema: schemaOf(input, 'input'),
  outputSchema: schemaOf(output, 'output'),
}));

/** In the draft that every client reads. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): ObjectSchema {
  return z.toJSONSchema(schema, { io, target: 'draft-7' }) as unknown as ObjectSchema;
}
