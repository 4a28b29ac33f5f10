/**
 * Whether a conversation keeps its sandbox from being paused to make room (D17).
 * Owns the one reading of its row; which sandbox is asked is for placement to choose.
 */
import type { ConversationRow } from '../machine/projection.ts';

/** The agent works, the start goes on, or a message is about to be delivered. */
export function isAtWork({ startTask, executionStatus, queuedMessages }: ConversationRow): boolean {
  const starting = startTask !== 'READY' && startTask !== 'ERROR';
  return starting || executionStatus === 'RUNNING' || queuedMessages > 0;
}
