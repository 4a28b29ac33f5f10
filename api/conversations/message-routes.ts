/**
 * Sending and queueing messages, and what else a user sends to a running agent.
 * Owns the routes and the ids of messages: an `Idempotency-Key` is the id, so that a repeat is delivered once (D7).
 */
import { z } from 'zod';
import { conversationId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { ConversationRow } from '../../core/machine/projection.ts';
import type { Application, Principal } from '../application/application.ts';
import { requestIdOf } from '../application/idempotency-key.ts';
import { route } from '../application/route.ts';
import { SUCCESS, successSchema, uuidIn } from '../application/wire.ts';
import { sandboxStatus } from '../application/words.ts';
import { findConversation, OF_CONVERSATION } from './find-conversation.ts';
import { queueMessage, sendMessage } from './messages.ts';
import { hasText, textBlock, textOf } from './start-request.ts';

/** As in the reference product; the machine itself would hold more. */
const PENDING_MAX = 10;
const BLOCKS_MAX = 100;
const REASON_CHARS_MAX = 2_000;

/** For an empty message a model would be paid for nothing. */
const content = z
  .array(textBlock)
  .min(1, 'content must be a non-empty list')
  .max(BLOCKS_MAX)
  .refine(hasText, 'content must have text')
  .meta({
    contains: {
      type: 'object',
      properties: { text: { type: 'string', pattern: '\\S' } },
      required: ['text'],
    },
  });
const messageSchema = z.object({
  role: z.literal('user').default('user'),
  content,
  run: z.boolean().default(true),
});

export const MESSAGE_ROUTES = [
  route({
    method: 'POST',
    url: '/api/v1/app-conversations/:conversation_id/send-message',
    operation: 'send_message',
    summary: 'Sends a follow-up message; a released sandbox is resumed for it.',
    ...OF_CONVERSATION,
    takesKey: true,
    body: messageSchema,
    result: z.object({
      success: z.literal(true),
      sandbox_status: sandboxStatus,
      message: z.string().nullable(),
      message_id: z.string(),
    }),
    errors: ['not_found', 'sandbox_starting', 'sandbox_error', 'sandbox_missing', 'queue_full'],
    handler: async (call) => {
      const { application, caller, params, body } = call;
      const row = await findConversation(application, caller, params.conversation_id);
      const messageId = await requestIdOf(call, targetOf(row));
      const { sandboxStatus, note } = await sendMessage(application, row, {
        messageId,
        text: textOf(body.content),
        run: body.run,
      });
      return { ...SUCCESS, sandbox_status: sandboxStatus, message: note, message_id: messageId };
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/conversations/:conversation_id/pending-messages',
    operation: 'queue_pending_message',
    summary: 'Queues a message before READY; the id may be `task-` and a start task.',
    access: 'key',
    takesKey: true,
    params: z.object({ conversation_id: z.union([uuidIn, z.string().regex(/^task-[0-9a-fA-F-]{32,36}$/)]) }),
    body: z.object({ content, role: z.literal('user').default('user') }),
    result: z.object({ id: z.string(), queued: z.literal(true), position: z.int() }),
    status: 201,
    errors: ['not_found', 'queue_full', 'sandbox_error', 'sandbox_missing'],
    handler: async (call) => {
      const { application, caller, params, body } = call;
      const row = await findPending(application, caller, params.conversation_id);
      if (row.queuedMessages >= PENDING_MAX)
        throw new ParleyError('queue_full', `Cannot queue the message: ${row.queuedMessages} are waiting`);
      const id = await requestIdOf(call, targetOf(row));
      const message = { messageId: id, text: textOf(body.content), run: true };
      if (row.startTask === 'READY' || row.startTask === 'ERROR')
        await sendMessage(application, row, message);
      else await queueMessage(application, row, message);
      const after = await application.world.records.conversation(row.conversationId);
      return { id, queued: true as const, position: Math.max(1, after?.queuedMessages ?? 1) };
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/app-conversations/:conversation_id/confirmation',
    operation: 'answer_confirmation',
    summary: 'Answers an agent that waits for the approval of an action.',
    ...OF_CONVERSATION,
    takesKey: true,
    body: z.object({
      accept: z.boolean(),
      reason: z.string().max(REASON_CHARS_MAX).default('User rejected the action.'),
    }),
    result: successSchema,
    errors: ['not_found', 'sandbox_error', 'sandbox_missing', 'sandbox_starting'],
    handler: async (call) => {
      const { application, caller, params, body } = call;
      const row = await findWritable(application, caller, params.conversation_id);
      const requestId = await requestIdOf(call, targetOf(row));
      await application.requests.deliver({
        to: { machine: 'conversation', id: row.conversationId },
        event: { type: 'confirmationAnswered', requestId, accept: body.accept, reason: body.reason },
      });
      return SUCCESS;
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/app-conversations/:conversation_id/interrupt',
    operation: 'interrupt_agent',
    summary: 'Stops the agent of one conversation; others in its sandbox go on.',
    ...OF_CONVERSATION,
    takesKey: true,
    result: successSchema,
    errors: ['not_found', 'sandbox_error', 'sandbox_missing'],
    handler: async (call) => {
      const { application, caller, params } = call;
      const row = await findConversation(application, caller, params.conversation_id);
      const requestId = await requestIdOf(call, targetOf(row));
      await application.requests.deliver({
        to: { machine: 'conversation', id: row.conversationId },
        event: { type: 'interruptRequested', requestId },
      });
      return SUCCESS;
    },
  }),
] as const;

/** One machine receives all of these requests, and knows each by its id. */
function targetOf({ conversationId: id }: ConversationRow): string {
  return `conversation/${id}`;
}

/** @throws ParleyError not_found, sandbox_starting, sandbox_error, sandbox_missing */
async function findWritable(
  application: Application,
  caller: Principal,
  id: string,
): Promise<ConversationRow> {
  const row = await findConversation(application, caller, id);
  if (row.startTask === 'READY' && row.sandboxStatus !== 'ERROR' && row.sandboxStatus !== 'MISSING')
    return row;
  const code =
    row.sandboxStatus === 'MISSING'
      ? 'sandbox_missing'
      : row.sandboxStatus === 'ERROR' || row.startTask === 'ERROR'
        ? 'sandbox_error'
        : 'sandbox_starting';
  throw new ParleyError(code, 'Cannot answer the agent: it is not there to hear it');
}

/** A start task stands for the conversation that it starts. @throws ParleyError not_found */
async function findPending(
  application: Application,
  caller: Principal,
  id: string,
): Promise<ConversationRow> {
  if (!id.startsWith('task-')) return await findConversation(application, caller, id);
  const taskId = conversationId(id.slice('task-'.length));
  const [task] = await application.startTasks.byIds(caller.userId, [taskId]);
  if (task === undefined || task === null) throw new ParleyError('not_found', 'Conversation not found');
  return await findConversation(application, caller, task.conversationId);
}
