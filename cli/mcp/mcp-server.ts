/**
 * The tools as a server of the Model Context Protocol, for one client.
 * Owns the translation between the protocol and the tools; transports are passed in.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type ServerNotification,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { hiddenForms, redactText } from '../../activities/redaction.ts';
import { ClientError } from '../../api/client/client.ts';
import { ERROR_CATALOGUE } from '../../core/error-catalogue.ts';
import { asParleyError } from '../../core/parley-error.ts';
import { CliError } from '../../host/cli-error.ts';
import { asHere } from '../server/server-host.ts';
import { CONVERSATION_TOOLS } from './conversation-tools.ts';
import type { McpDesk, Tool } from './mcp-tool.ts';
import { RUN_TOOLS } from './run-tools.ts';
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
    // A client that has left receives nothing, and that is no fault.
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

interface Asking {
  readonly desk: McpDesk;
  readonly signal: AbortSignal;
  /** Values that stand in no answer: keys. */
  readonly hidden: readonly string[];
  progress(message: string): void;
  /** A bug of ours, for the operator. */
  onBug(error: unknown): void;
}

/** Never rejects. */
async function answerCall(tool: Tool, args: unknown, asking: Asking): Promise<CallToolResult> {
  const { desk, signal, progress } = asking;
  const hidden = new Set(asking.hidden);
  const hide = (values: Iterable<string>): void => {
    for (const value of values) hidden.add(value);
  };
  const clean = (text: string): string => redactText(text, hiddenForms(hidden));
  try {
    const read = tool.input.safeParse(withoutNull(args));
    if (!read.success) return failed(clean(argumentsText(tool, read.error)));
    const call = { input: read.data, desk, signal, progress: (text: string) => progress(clean(text)), hide };
    const output = await tool.run(call);
    const text = clean(JSON.stringify(tool.output.parse(output)));
    return {
      content: [{ type: 'text', text }],
      structuredContent: JSON.parse(text) as Record<string, unknown>,
    };
  } catch (error) {
    return failed(clean(failureText(error, asking)));
  }
}

/** Models write null for what they leave out. */
function withoutNull(args: unknown): unknown {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args ?? {};
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

function failed(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}

function argumentsText({ name, input }: Tool, error: z.ZodError): string {
  const names = input instanceof z.ZodObject ? Object.keys(input.shape).join(', ') : '';
  return words({
    code: 'invalid_request',
    message: `Cannot call "${name}": its arguments do not fit\n${z.prettifyError(error)}`,
    remedy: names === '' ? 'see its input schema' : `it takes ${names}`,
  });
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly remedy: string | null;
}

function failureText(error: unknown, { signal, onBug }: Asking): string {
  if (signal.aborted)
    return words({
      code: 'request_timeout',
      message: 'Cannot wait longer: the caller has left',
      remedy: null,
    });
  if (error instanceof CliError) return words({ ...error, code: 'usage', message: error.message });
  const told = asParleyError(asHere(error));
  if (told.code === 'internal') {
    onBug(error);
    const remedy = 'standard error of the server says more';
    return words({ code: 'internal', message: 'Cannot go on: this is a bug in Parley', remedy });
  }
  const message = error instanceof ClientError ? detailOf(error) : told.message;
  return words({ code: told.code, message, remedy: told.remedy ?? remedyOf(told) });
}

/** A sentence of the service as it is; findings of a request as data. */
function detailOf({ detail, message }: ClientError): string {
  return typeof detail === 'string' ? detail : detail === null ? message : JSON.stringify(detail);
}

function remedyOf({ code, retry }: ReturnType<typeof asParleyError>): string {
  const { when } = ERROR_CATALOGUE[code];
  return `${when} ${retry ? 'The same call may succeed later.' : 'The same call fails again until something changes.'}`;
}

function words({ code, message, remedy }: Failure): string {
  return [message, ...(remedy === null ? [] : [`Remedy: ${remedy}`]), `Code: ${code}`].join('\n');
}
