/**
 * When it is worth reading a transcript again: for a reader that follows it while other processes write it.
 * Owns the interface. A wake only says that it is time to read: the log is the truth.
 */
import type { ConversationId } from '../core/ids.ts';

/** A reader that follows the events of one conversation. */
export interface EventFollower {
  /**
   * Resolves when there may be events behind this number, or the conversation may be gone; at the latest some seconds
   * after it is so, whatever was lost on the way. At once when the signal has fired, or fires.
   */
  wait(afterSequence: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Wakes followers. */
export interface EventWakes {
  /** To be opened before the first read: what is stored from then on wakes it. */
  follow(conversationId: ConversationId): EventFollower;
}
