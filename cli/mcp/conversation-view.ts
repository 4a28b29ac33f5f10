/**
 * A conversation as other agents see it: the record without what opens its sandbox, and the last answer of its agent.
 * Owns what is left out, and what counts as an answer.
 */
import { z } from 'zod';
import { conversationSchema } from '../../api/conversations/conversation-record.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { agentWords } from '../print/event-line.ts';
import type { McpDesk } from './mcp-tool.ts';

/** The key and the address of the sandbox's agent are for no model. */
export const conversationView = conversationSchema
  .pick({
    id: true,
    title: true,
    start_task_status: true,
    start_task_detail: true,
    sandbox_status: true,
    execution_status: true,
    execution_status_at: true,
    selected_repository: true,
    selected_branch: true,
    llm_model: true,
    metrics: true,
    queued_messages: true,
    run_id: true,
    run_item: true,
    created_at: true,
    updated_at: true,
  })
  .meta({ id: 'ConversationView' });
export type ConversationView = z.output<typeof conversationView>;

export const answerOut = z
  .string()
  .nullable()
  .describe('What its agent said last; null when it said nothing yet.');

/** Null for one that does not exist, or not yet. */
export async function findConversation(
  { client }: McpDesk,
  id: string,
  signal: AbortSignal,
): Promise<ConversationView | null> {
  const [record = null] = await client.getAppConversations({ query: { ids: [id] } }, { signal });
  return record === null ? null : conversationView.parse(record);
}

/** @throws ParleyError not_found */
export async function requireConversation(
  desk: McpDesk,
  id: string,
  signal: AbortSignal,
): Promise<ConversationView> {
  const found = await findConversation(desk, id, signal);
  if (found !== null) return found;
  throw new ParleyError('not_found', `Cannot find the conversation "${id}"`, {
    remedy: 'list conversations with the tool "status" without an id',
  });
}

/** Newest events that are searched for an answer. */
const LOOKED_MAX = 50;
/** A longer answer is read with the tool "events". */
const ANSWER_CHARS_MAX = 16_000;

export async function lastAnswer(
  { client }: McpDesk,
  id: string,
  signal: AbortSignal,
): Promise<string | null> {
  const query = { sort_order: 'TIMESTAMP_DESC', limit: LOOKED_MAX } as const;
  const { items } = await client.searchEvents({ params: { conversation_id: id }, query }, { signal });
  for (const event of items) {
    const text = agentWords(event.kind, event);
    if (text !== '') return text.slice(0, ANSWER_CHARS_MAX);
  }
  return null;
}

/** Its agent works no more until a user sends a message, or never began. */
export function isAtRest({
  start_task_status: start,
  execution_status: status,
  queued_messages: queued,
}: ConversationView): boolean {
  if (start === 'ERROR') return true;
  return start === 'READY' && queued === 0 && AT_REST.has((status ?? '').toUpperCase());
}

const AT_REST: ReadonlySet<string> = new Set([
  'PAUSED',
  'WAITING_FOR_CONFIRMATION',
  'FINISHED',
  'ERROR',
  'STUCK',
]);

export function conversationWords(view: ConversationView | null): string {
  if (view === null) return 'accepted';
  const { start_task_status: start, execution_status: status } = view;
  return start === 'READY' ? `ready, agent ${status ?? 'starting'}` : start;
}
