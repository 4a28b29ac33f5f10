/**
 * Reading a transcript by filter, in either direction (spec "Events").
 * Owns the interface; the cursor is the sequence number, which never changes.
 */
import type { ConversationId, UserId } from '../core/ids.ts';
import type { StoredEvent } from './record-store.ts';

/** Every field narrows. */
export interface EventFilter {
  readonly kind?: string;
  /** As the Agent Server spells instants: `2026-03-04T10:11:12.345678`, UTC without a zone. */
  readonly timestampFrom?: string;
  readonly timestampBefore?: string;
}

/** One page of a transcript. */
export interface EventPageRequest {
  /** Behind this one in the direction of reading; null from the beginning. */
  readonly afterSequence: number | null;
  /** 1..1000 */
  readonly limit: number;
  readonly descending: boolean;
}

/** An event as it was stored. */
export interface EventText {
  readonly sequence: number;
  /** JSON of the event. */
  readonly body: string;
}

/** Reads transcripts page by page. */
export interface EventSearch {
  searchEvents(
    conversationId: ConversationId,
    filter: EventFilter,
    page: EventPageRequest,
  ): Promise<readonly StoredEvent[]>;
  /** As JSON text, unread; none of a conversation that is missing or another user's. */
  ownEventTexts(
    owner: { readonly userId: UserId; readonly id: ConversationId },
    filter: EventFilter,
    page: EventPageRequest,
  ): Promise<readonly EventText[]>;
  countEvents(conversationId: ConversationId, filter: EventFilter): Promise<number>;
  /** Null where there is no such event. */
  eventsById(
    conversationId: ConversationId,
    ids: readonly string[],
  ): Promise<readonly (StoredEvent | null)[]>;
}
