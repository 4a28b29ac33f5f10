/**
 * I7: the events of a conversation never become fewer.
 * Owns the memory of how many there were.
 */
import type { ConversationId } from '../../core/ids.ts';
import type { Moment, SafetyCheck } from './checker.ts';

export function transcriptGrows(): SafetyCheck {
  const lengths = new Map<string, number>();
  return ({ step, facts }: Moment) => {
    const { id } = step.address;
    const length = facts.transcriptOf(id as ConversationId);
    const before = lengths.get(id) ?? 0;
    lengths.set(id, length);
    return length < before ? `its transcript had ${before} events, and has ${length}` : null;
  };
}
