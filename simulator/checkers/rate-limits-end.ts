/**
 * I29: when the wait for a rate limit is over, the agent is told to go on (D6).
 * Owns the one check; what becomes of an agent whose sandbox was let go meanwhile is for the rules to say.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { Moment } from './checker.ts';

export function rateLimitsEnd({ step }: Moment): string | null {
  const before = step.before as ConversationState | null;
  const { phase, recheckAt, sandbox, queue } = step.after as ConversationState;
  if (step.event.type !== 'deadline' || phase !== 'active') return null;
  if (before === null || before.recheckAt === null || recheckAt !== null || sandbox?.usable !== true)
    return null;
  return queue.some(({ kind }) => kind === 'continue')
    ? null
    : 'its rate limit is over, and its agent is not told';
}
