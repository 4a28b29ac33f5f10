/**
 * What an item waits for while its conversation has no work to show: a slot, or the model's endpoint.
 * Owns how a notice shows it; what becomes of the waiting is decided elsewhere.
 */
import type { ConversationSnapshot } from '../../machine/snapshot.ts';
import type { RunItem } from '../state.ts';

/** The attempt counts from when it has its place: waiting for a slot is no attempt (D29). */
export function slotWait(item: RunItem, { waitsFor }: ConversationSnapshot, now: number): Partial<RunItem> {
  if (waitsFor === item.waitsFor) return {};
  return waitsFor === undefined ? { waitsFor, admittedAt: now, skippedMs: undefined } : { waitsFor };
}

/** The model's endpoint has refused its agent until later (D6). */
export function startsWaitingForRate(item: RunItem, conversation: ConversationSnapshot): boolean {
  return conversation.pauseReason === 'rate_limit' && item.executionStatus !== conversation.executionStatus;
}
