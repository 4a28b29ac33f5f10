/**
 * What a call of a tool is answered with: its output twice, as data and as text, or its failure in words.
 * Owns that nothing is thrown at a caller, and that no hidden value is in an answer.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { hiddenForms, redactText } from '../../activities/redaction.ts';
import { ERROR_CATALOGUE } from '../../core/error-catalogue.ts';
import { ClientError } from '../../api/client/client.ts';
import { asParleyError } from '../../core/parley-error.ts';
import { CliError } from '../../host/cli-error.ts';
import { asHere } from '../server/server-host.ts';
import type { McpDesk, Tool } from './mcp-tool.ts';

export interface Asking {
  readonly desk: McpDesk;
  readonly signal: AbortSignal;
  /** Values that stand in no answer: keys. */
  readonly hidden: readonly string[];
  progress(message: string): void;
  /** What is a bug of ours, for whoever runs this. */
  onBug(error: unknown): void;
}

/** Never rejects. */
export async function answerCall(tool: Tool, args: unknown, asking: Asking): Promise<CallToolResult> {
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
