/**
 * I13: an agent is only spoken to in the present incarnation of its sandbox (D5, D14).
 * Owns the one check: keys are bound to a generation, so an order for another one would carry a stale key.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { Moment } from './checker.ts';

export function presentIncarnation({ step }: Moment): string | null {
  const { sandbox } = step.after as ConversationState;
  for (const command of step.commands) {
    if (command.type === 'removeConversation' || !('generation' in command)) continue;
    if (sandbox === null || !sandbox.usable)
      return `${command.type} is ordered, and the sandbox is not usable`;
    if (command.generation !== sandbox.generation)
      return `${command.type} is for generation ${command.generation}, and ${sandbox.generation} is the present one`;
  }
  return null;
}
