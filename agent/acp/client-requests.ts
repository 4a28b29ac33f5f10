/**
 * What an agent asks its client for, by method: permissions, files and terminals.
 * Owns the reading of each request; who decides on a permission is the session's part.
 */
import { z } from 'zod';

import { malformedRequest, unknownMethod } from './acp-connection.ts';
import type { PermissionOption, PermissionOutcome } from './acp-turn.ts';
import { readFileSchema, readTextFile, writeFileSchema, writeTextFile } from './client-files.ts';
import { createTerminalSchema, terminalSchema } from './client-terminals.ts';
import type { ClientTerminals } from './client-terminals.ts';
import { problemOf, toolCallSchema } from './wire-updates.ts';
import type { ToolCallChange } from './wire-updates.ts';

const ownSessionSchema = z.looseObject({ sessionId: z.string() });
const permissionSchema = z.looseObject({
  toolCall: toolCallSchema,
  options: z.array(z.object({ optionId: z.string(), kind: z.string() })).max(100),
});

export interface RequestSurroundings {
  readonly sessionId: () => string | null;
  readonly terminals: ClientTerminals;
  readonly environment: () => Readonly<Record<string, string>>;
  readonly permission: (
    call: ToolCallChange,
    options: readonly PermissionOption[],
  ) => Promise<PermissionOutcome>;
}

/** @throws Error in the protocol's words, or with the reason why it cannot be done */
export async function answerRequest(
  around: RequestSurroundings,
  { method, params }: { readonly method: string; readonly params: unknown },
): Promise<unknown> {
  const { terminals } = around;
  switch (method) {
    case 'session/request_permission': {
      requireSession(around, params);
      const { toolCall, options } = read(permissionSchema, params);
      return { outcome: await around.permission(toolCall, options) };
    }
    case 'fs/read_text_file':
      requireSession(around, params);
      return await readTextFile(read(readFileSchema, params));
    case 'fs/write_text_file':
      requireSession(around, params);
      return await writeTextFile(read(writeFileSchema, params));
    case 'terminal/create':
      requireSession(around, params);
      return await terminals.create(read(createTerminalSchema, params), around.environment());
    case 'terminal/output':
      return terminals.output(read(terminalSchema, params).terminalId);
    case 'terminal/wait_for_exit':
      return await terminals.waitForExit(read(terminalSchema, params).terminalId);
    case 'terminal/kill':
      return terminals.kill(read(terminalSchema, params).terminalId);
    case 'terminal/release':
      return terminals.release(read(terminalSchema, params).terminalId);
    default:
      throw unknownMethod(method);
  }
}

function requireSession({ sessionId }: RequestSurroundings, params: unknown): void {
  const { sessionId: named } = read(ownSessionSchema, params);
  if (named !== sessionId()) throw malformedRequest('sessionId: it names another session');
}

function read<S extends z.ZodType>(schema: S, params: unknown): z.output<S> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  throw malformedRequest(problemOf(parsed.error));
}
