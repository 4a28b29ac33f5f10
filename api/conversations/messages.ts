/**
 * Messages to a conversation: accepted durably, delivered in order and exactly once (D7).
 * Owns what is answered before a message is accepted (D8); the delivery is the machine's.
 */
import { messageRefusal } from '../../core/conversation/machine.ts';
import type { ErrorCode } from '../../core/error-catalogue.ts';
import { QUEUED_MESSAGES_MAX } from '../../core/limits.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { ConversationRow, SandboxRow } from '../../core/machine/projection.ts';
import type { SandboxStatus } from '../../core/status.ts';
import type { Application } from '../application/application.ts';
import { shownStatus } from './conversation-record.ts';

export interface NewMessage {
  readonly messageId: string;
  readonly text: string;
  readonly run: boolean;
}

const REFUSALS: Readonly<Partial<Record<ErrorCode, string>>> = {
  sandbox_starting: 'the sandbox is starting; queue the message as pending',
  sandbox_error: 'the sandbox is in ERROR, and the conversation is read-only',
  sandbox_missing: 'the sandbox is MISSING, and the conversation is read-only',
};

/** Seconds after which a client may find the sandbox started. */
const STARTING_RETRY_S = 5;

export interface Accepted {
  readonly sandboxStatus: SandboxStatus;
  /** Null when it goes out at once. */
  readonly note: string | null;
}

/** @throws ParleyError sandbox_starting, sandbox_error, sandbox_missing, queue_full */
export async function sendMessage(
  application: Application,
  row: ConversationRow,
  message: NewMessage,
): Promise<Accepted> {
  const sandbox = row.sandboxId === null ? null : await application.world.records.sandbox(row.sandboxId);
  const sandboxStatus = shownStatus(row, sandbox);
  const code = messageRefusal({ startTask: row.startTask, sandboxStatus });
  if (code !== null) throw refusal(code);
  if (sandbox !== null && !sandbox.available && !application.dialect.resumesOnMessage)
    throw new ParleyError(
      'sandbox_starting',
      `Sandbox is ${sandboxStatus}. Use POST /api/v1/sandboxes/${sandbox.sandboxId}/resume to resume it first.`,
    );
  await queueMessage(application, row, message);
  return { sandboxStatus, note: noteOf(sandbox) };
}

function refusal(code: ErrorCode): ParleyError {
  const details = code === 'sandbox_starting' ? { retry_after: STARTING_RETRY_S } : {};
  return new ParleyError(code, `Cannot send the message: ${REFUSALS[code] ?? 'it is refused'}`, { details });
}

function noteOf(sandbox: SandboxRow | null): string | null {
  return sandbox === null || sandbox.available ? null : 'The message is queued, and the sandbox is resuming.';
}

/** To the machine, whatever the phase: before READY it waits there. @throws ParleyError queue_full */
export async function queueMessage(
  { requests }: Application,
  row: ConversationRow,
  { messageId, text, run }: NewMessage,
): Promise<void> {
  if (row.queuedMessages >= QUEUED_MESSAGES_MAX)
    throw new ParleyError('queue_full', `Cannot queue the message: ${row.queuedMessages} are waiting`);
  await requests.deliver({
    to: { machine: 'conversation', id: row.conversationId },
    event: { type: 'messageReceived', messageId, text, run },
  });
}
