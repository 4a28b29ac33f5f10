/**
 * Tools about work of either kind, a conversation or a run: how it stands, what it made, and its end.
 * Owns their shapes and order of calls.
 */
import { z } from 'zod';
import { runItemSchema, runSchema } from '../../api/runs/run-record.ts';
import { normalUuid } from '../../core/ids.ts';
import { CliError } from '../../host/cli-error.ts';
import { bytesIn, conversationIdIn } from './conversation-tools.ts';
import { answerOut, conversationView, lastAnswer, requireConversation } from './conversation-view.ts';
import { ENDS, READS, tool, type ToolCall } from './mcp-tool.ts';
import { runIdIn } from './run-tools.ts';

const ROWS_DEFAULT = 20;
const ROWS_MAX = 100;
const conversationId = conversationIdIn.nullish();
const runId = runIdIn.nullish().describe('Id of the run.');
const cursorIn = z.string().max(2_048).nullish().describe('The "next_cursor" of the page before.');
const cursorOut = z.string().nullable().describe('Hand it back as "cursor" for more; null at the end.');

const statusOut = z.object({
  conversation: conversationView.optional(),
  answer: answerOut.optional(),
  run: runSchema.optional(),
  items: z.array(runItemSchema).optional().describe('Conversations of the run, in the order of its plan.'),
  conversations: z.array(conversationView).optional().describe('Newest first.'),
  runs: z.array(runSchema).optional().describe('Newest first.'),
  next_cursor: cursorOut.optional(),
});

interface StatusAsked {
  readonly limit: number;
  readonly cursor?: string | null | undefined;
}

const status = tool({
  name: 'status',
  title: 'Look how work stands',
  description:
    'With "conversation_id": one conversation and the last answer of its agent. With "run_id": one run and its conversations. Without both: the newest conversations and runs.',
  annotations: READS,
  input: z.strictObject({
    conversation_id: conversationId,
    run_id: runId,
    limit: z.int().min(1).max(ROWS_MAX).default(ROWS_DEFAULT).describe('Rows at most.'),
    cursor: cursorIn,
  }),
  output: statusOut,
  async run({ input, desk, signal }) {
    const { conversation_id: conversation = null, run_id: run = null, ...page } = input;
    refuseBoth(conversation, run);
    if (conversation !== null) {
      const id = normalUuid(conversation);
      const found = await requireConversation(desk, id, signal);
      return { conversation: found, answer: await lastAnswer(desk, id, signal) };
    }
    if (run === null) return await newest({ desk, signal }, page);
    const params = { run_id: run };
    const record = await desk.client.getRun({ params }, { signal });
    const items = await desk.client.searchRunItems({ params, query: queryOf(page) }, { signal });
    return { run: record, items: items.items, next_cursor: items.next_page_id };
  },
});

function queryOf({ limit, cursor }: StatusAsked): { limit: number; page_id?: string } {
  return { limit, ...(cursor == null ? {} : { page_id: cursor }) };
}

/** The cursor goes on with conversations; runs are on the first page only. */
async function newest(
  { desk: { client }, signal }: Pick<ToolCall<unknown>, 'desk' | 'signal'>,
  page: StatusAsked,
): Promise<z.input<typeof statusOut>> {
  const found = await client.searchAppConversations({ query: queryOf(page) }, { signal });
  const conversations = found.items.map((record) => conversationView.parse(record));
  const runs =
    page.cursor == null ? await client.searchRuns({ query: { limit: page.limit } }, { signal }) : null;
  return { conversations, ...(runs === null ? {} : { runs: runs.items }), next_cursor: found.next_page_id };
}

const FILES_DEFAULT = 200;
const FILES_MAX = 1_000;

const resultsOut = z.object({
  files: z
    .array(z.object({ name: z.string(), change: z.string().nullable() }))
    .optional()
    .describe('Files of the results of a run, or those that a conversation changed.'),
  total: z.int().optional(),
  next_cursor: cursorOut.optional(),
  name: z.string().optional(),
  text: z.string().nullable().optional().describe('Null for a file that is no text.'),
  original: z
    .string()
    .nullable()
    .optional()
    .describe('Of a conversation: the file as it was when the work began.'),
  bytes: z.int().optional().describe('Size of the whole file.'),
  next_offset: z.int().nullable().optional().describe('Hand it back as "offset" for more; null at the end.'),
});

const results = tool({
  name: 'results',
  title: 'Fetch what work made',
  description:
    'With "run_id": lists the files of the results of a run (patches, transcripts, reports), and with "name" reads one. With "conversation_id": lists the files its agent changed, and with "name" reads one as it is and as it was.',
  annotations: READS,
  input: z.strictObject({
    conversation_id: conversationId,
    run_id: runId,
    name: z.string().min(1).max(4_096).nullish().describe('File to read; without it they are listed.'),
    offset: z.int().min(0).default(0).describe('Byte at which reading begins.'),
    max_bytes: bytesIn,
    limit: z.int().min(1).max(FILES_MAX).default(FILES_DEFAULT).describe('Files listed at most.'),
    cursor: cursorIn,
  }),
  output: resultsOut,
  async run(call) {
    const { conversation_id: conversation = null, run_id: run = null, name = null } = call.input;
    refuseBoth(conversation, run);
    if (conversation !== null) return await ofConversation(call, normalUuid(conversation), name);
    if (run !== null) return await ofRun(call, run, name);
    throw new CliError('Cannot tell whose results are meant: give "run_id" or "conversation_id"');
  },
});

interface ResultsAsked {
  readonly offset: number;
  readonly max_bytes: number;
  readonly limit: number;
  readonly cursor?: string | null | undefined;
}

async function ofRun(
  { desk: { client }, input, signal }: ToolCall<ResultsAsked>,
  run: string,
  name: string | null,
): Promise<z.input<typeof resultsOut>> {
  const params = { run_id: run };
  if (name === null) {
    const names = await client.listRunResults({ params }, { signal });
    return filesPage(
      names.map((one) => ({ name: one, change: null })),
      input,
    );
  }
  const response = await client.getRunResult({ params, query: { name } }, { signal });
  return { name, ...piece(new Uint8Array(await response.arrayBuffer()), input) };
}

async function ofConversation(
  { desk: { client }, input, signal }: ToolCall<ResultsAsked>,
  id: string,
  name: string | null,
): Promise<z.input<typeof resultsOut>> {
  const params = { conversation_id: id };
  if (name === null) {
    const changes = await client.listGitChanges({ params }, { signal });
    return filesPage(
      changes.map(({ path, status: change }) => ({ name: path, change })),
      input,
    );
  }
  const { modified, original } = await client.readGitDiff({ params, query: { path: name } }, { signal });
  const encode = (text: string | null): Uint8Array => new TextEncoder().encode(text ?? '');
  const before =
    original === null ? null : piece(encode(original), { offset: 0, max_bytes: input.max_bytes }).text;
  return { name, ...piece(encode(modified), input), original: before };
}

function filesPage(
  files: readonly { readonly name: string; readonly change: string | null }[],
  { limit, cursor }: ResultsAsked,
): z.input<typeof resultsOut> {
  const from = cursor == null ? 0 : Number(cursor);
  if (!Number.isSafeInteger(from) || from < 0)
    throw new CliError(`Cannot go on at "${cursor ?? ''}": it is no "next_cursor" of a list of files`);
  const end = from + limit;
  return {
    files: files.slice(from, end),
    total: files.length,
    next_cursor: end < files.length ? String(end) : null,
  };
}

/** Whole characters only; bytes that are no text are not shown. */
function piece(
  content: Uint8Array,
  { offset, max_bytes: bytesMax }: Pick<ResultsAsked, 'offset' | 'max_bytes'>,
): { readonly text: string | null; readonly bytes: number; readonly next_offset: number | null } {
  const bytes = content.byteLength;
  const end = characterEnd(content, Math.min(offset + bytesMax, bytes));
  const text = textOf(content.subarray(Math.min(offset, bytes), end));
  return { text, bytes, next_offset: text !== null && end < bytes ? end : null };
}

/** Back to the first byte of the character that would be cut: those behind it begin with the bits 10. */
function characterEnd(content: Uint8Array, end: number): number {
  let at = end;
  while (at < content.byteLength && at > end - 4 && ((content[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}

function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

const KEYS_MAX = 10_000;

const cancel = tool({
  name: 'cancel',
  title: 'End work',
  description:
    'With "run_id": ends a run, or only the conversations of it in "keys"; what was made so far is still collected. With "conversation_id": stops its agent, which a message by "send" lets go on.',
  annotations: ENDS,
  input: z.strictObject({
    conversation_id: conversationId,
    run_id: runId,
    keys: z.array(z.string().min(1).max(200)).min(1).max(KEYS_MAX).nullish(),
  }),
  output: z.object({ accepted: z.literal(true) }),
  async run({ input, desk, signal }) {
    const { conversation_id: conversation = null, run_id: run = null, keys = null } = input;
    refuseBoth(conversation, run);
    if (conversation !== null) {
      await desk.client.interruptAgent({ params: { conversation_id: normalUuid(conversation) } }, { signal });
      return { accepted: true as const };
    }
    if (run === null) throw new CliError('Cannot tell what to end: give "run_id" or "conversation_id"');
    const requestId = `mcp-${desk.shell.randomHex(16)}`;
    const body = { type: 'cancelRequested' as const, requestId, ...(keys === null ? {} : { keys }) };
    return await desk.client.controlRun({ params: { run_id: run }, body }, { signal });
  },
});

function refuseBoth(conversation: string | null, run: string | null): void {
  if (conversation !== null && run !== null)
    throw new CliError('Cannot tell what is meant: give "run_id" or "conversation_id", and not both');
}

export const WORK_TOOLS = [status, results, cancel];
