/**
 * I8: an accepted message reaches the agent exactly once, or is refused once (D7).
 * Owns the check against twice; that none is lost is a matter of rest.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { Moment } from './checker.ts';

export function deliveredOnce({ step, facts }: Moment): string | null {
  const { event } = step;
  if (event.type !== 'itemDelivered' && event.type !== 'messageReceived' && !ordersRecord(step)) return null;
  const before = step.before as ConversationState | null;
  for (const { itemId } of before?.queue ?? []) {
    const delivered = facts.delivered.get(itemId) ?? 0;
    const refused = facts.refused.get(itemId) ?? 0;
    if (delivered > 1 || refused > 1 || (delivered > 0 && refused > 0 && !isInDoubt(step)))
      return `message "${itemId}" was delivered ${delivered} times and refused ${refused} times`;
  }
  return null;
}

function ordersRecord({ commands }: Moment['step']): boolean {
  return commands.some(({ type }) => type === 'record');
}

/** Handed over while its answer was abandoned: the agent may have it although its sender was told otherwise. */
function isInDoubt({ commands }: Moment['step']): boolean {
  return commands.some(({ type }) => type === 'cancelCommand');
}
