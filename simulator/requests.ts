/**
 * What a person asks of a conversation, a sandbox or a run, as the event by which its machine hears of it.
 * Owns the one form of each request; must not decide who asks, or when.
 */
import type { ConversationEvent } from '../core/conversation/message.ts';
import type { RunEvent } from '../core/run/message.ts';
import type { SandboxEvent } from '../core/sandbox/message.ts';

/** The same id again is the same request. */
type Request<Event> = (requestId: string) => Event;

type ConversationRequest = 'interrupt' | 'access' | 'confirm' | 'deny' | 'remove';

/** What can be asked of a conversation. */
export const CONVERSATION_REQUESTS: Readonly<Record<ConversationRequest, Request<ConversationEvent>>> = {
  interrupt: (requestId) => ({ type: 'interruptRequested', requestId }),
  access: (requestId) => ({ type: 'accessRequested', requestId }),
  confirm: (requestId) => ({ type: 'confirmationAnswered', requestId, accept: true, reason: '' }),
  deny: (requestId) => ({ type: 'confirmationAnswered', requestId, accept: false, reason: 'no' }),
  remove: (requestId) => ({ type: 'deleteRequested', requestId }),
};

export const SANDBOX_REQUESTS: Readonly<Record<'pause' | 'resume' | 'delete', Request<SandboxEvent>>> = {
  pause: (requestId) => ({ type: 'pauseRequested', requestId, reason: 'user' }),
  resume: (requestId) => ({ type: 'resumeRequested', requestId, conversationId: null }),
  delete: (requestId) => ({ type: 'deleteRequested', requestId }),
};

export const RUN_REQUESTS: Readonly<Record<'cancel' | 'drain', Request<RunEvent>>> = {
  cancel: (requestId) => ({ type: 'cancelRequested', requestId }),
  drain: (requestId) => ({ type: 'drainRequested', requestId }),
};

/** A message that the agent is to work on. */
export function message(messageId: string, text: string): ConversationEvent {
  return { type: 'messageReceived', messageId, text, run: true };
}

/** `count` conversations of the run at once, from now on. */
export function concurrency(requestId: string, count: number): RunEvent {
  return { type: 'settingsChanged', requestId, settings: { concurrency: count } };
}
