/**
 * When it is worth looking at a transcript again: for whoever follows it while other processes write it.
 * Owns the interface. A wake says nothing but "look": the log is the truth.
 */
import type { ConversationId } from '../core/ids.ts';

/** One who follows the events of one conversation. */
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
  /** To be opened before the first look: what is stored from then on wakes it. */
  follow(conversationId: ConversationId): EventFollower;
}
