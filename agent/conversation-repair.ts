/**
 * Bringing a reloaded conversation to rest (D15): what was running has ended, what was held stays held.
 */
import { failAction } from './action-step.ts';
import type { Conversation } from './conversation.ts';
import { interruptedError } from './loop.ts';
import { pendingActions } from './turns.ts';

/** Repeating it changes nothing. */
export function repairAfterReload(conversation: Conversation): void {
  const pending = pendingActions(conversation.log.all());
  if (conversation.status === 'waiting_for_confirmation') {
    if (pending.length === 0) conversation.setStatus('idle');
    return;
  }
  for (const action of pending) {
    failAction(
      conversation,
      action,
      'The agent server ended before this action had a result. It may have run in part: check before you repeat it.',
      { kind: 'transient', retryable: true, user_action: 'none' },
    );
  }
  if (conversation.status !== 'running') return;
  const error = interruptedError('the agent server ended');
  conversation.append({ kind: 'ConversationErrorEvent', source: 'environment', ...error });
  conversation.setStatus('error');
}
