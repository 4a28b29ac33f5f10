/**
 * A model that cannot be reached, told while it lasts: a state update for each failed try, and one when it is over.
 * Owns the form of that event; when a call is tried again is the client's to say.
 */
import type { Conversation } from './conversation/conversation.ts';
import { TROUBLE_CHARS_MAX } from './limits.ts';

export interface FailedTry {
  readonly cause: string;
  /** Failed tries of this call. */
  readonly tries: number;
  readonly waitMs: number;
}

/** Key of the state update; its value is null when the trouble is over. */
const KEY = 'model_trouble';

/** Null: the call went through, or was given up, which the status then tells. */
export function tellModelTrouble(conversation: Conversation, failed: FailedTry | null): void {
  const value =
    failed === null
      ? null
      : {
          cause: failed.cause.slice(0, TROUBLE_CHARS_MAX),
          tries: failed.tries,
          wait_ms: Math.round(failed.waitMs),
        };
  try {
    conversation.appendState(KEY, value);
  } catch {
    // A disk that is full now may have room when the call has gone through: telling must not end the run.
  }
}
