/**
 * What the rows of conversations say that placement goes by.
 * Owns which of them rest and which have started; one without a row does neither.
 */
import { isAtWork } from '../../core/sandbox/at-work.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { ConversationRow } from '../../core/machine/projection.ts';

export class KnownConversations {
  private readonly resting = new Set<ConversationId>();
  private readonly ready = new Set<ConversationId>();

  note(row: ConversationRow): void {
    if (row.startTask === 'READY') this.ready.add(row.conversationId);
    if (isAtWork(row)) this.resting.delete(row.conversationId);
    else this.resting.add(row.conversationId);
  }

  /** Its row says that it is not at work. */
  isResting(id: ConversationId): boolean {
    return this.resting.has(id);
  }

  /** It has started once. */
  isReady(id: ConversationId): boolean {
    return this.ready.has(id);
  }
}
