/**
 * What an agent asks its client for, by method: permissions, files and terminals.
 * Owns the reading of each request; who decides on a permission is the session's part.
 */
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { EDITOR_FILE_BYTES_MAX } from '../limits.ts';
import { openReachable, writeReachable } from '../tool-files.ts';
import { malformedRequest, unknownMethod } from './acp-connection.ts';
import type { PermissionOption, PermissionOutcome } from './acp-turn.ts';
import { createTerminalSchema, terminalSchema, type ClientTerminals } from './client-terminals.ts';
import { problemOf, toolCallSchema, type ToolCallChange } from './wire-updates.ts';

const ownSessionSchema = z.looseObject({ sessionId: z.string() });
const permissionSchema = z.looseObject({
  toolCall: toolCallSchema,
  options: z.array(z.object({ optionId: z.string(), kind: z.string() })).max(100),
});

interface RequestSurroundings {
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

const pathSchema = z.string().min(1).max(4_096).refine(isAbsolute, 'Expected an absolute path');

/**
 * Files of the sandbox that an agent reads and writes through its client. Owns bounds and the choice of lines; how files
 * are reached, and which are not, is the part of tool-files.ts.
 */
const readFileSchema = z.looseObject({
  path: pathSchema,
  /** The first line that is wanted, from 1. */
  line: z.number().int().min(0).nullish(),
  limit: z.number().int().min(0).nullish(),
});
const writeFileSchema = z.looseObject({ path: pathSchema, content: z.string() });

/** @throws Error the file cannot be read, with the reason */
async function readTextFile({
  path,
  line,
  limit,
}: z.infer<typeof readFileSchema>): Promise<{ readonly content: string }> {
  const file = await openReachable(path);
  try {
    const { size } = await file.stat();
    if (size > EDITOR_FILE_BYTES_MAX)
      throw new Error(`Cannot read "${path}": it is larger than ${EDITOR_FILE_BYTES_MAX} bytes`);
    const text = (await file.readFile()).toString('utf8');
    if ((line ?? null) === null && (limit ?? null) === null) return { content: text };
    const first = Math.max(0, (line ?? 1) - 1);
    const lines = text.split('\n');
    return { content: lines.slice(first, limit == null ? lines.length : first + limit).join('\n') };
  } finally {
    await file.close();
  }
}

/** @throws Error the file cannot be written, with the reason */
async function writeTextFile({
  path,
  content,
}: z.infer<typeof writeFileSchema>): Promise<Record<string, never>> {
  if (Buffer.byteLength(content) > EDITOR_FILE_BYTES_MAX)
    throw new Error(`Cannot write "${path}": it is larger than ${EDITOR_FILE_BYTES_MAX} bytes`);
  await writeReachable(path, content);
  return {};
}
