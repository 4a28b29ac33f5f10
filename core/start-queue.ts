/**
 * Whose turn it is when starts wait for a free slot (D17, D29).
 * Pure: owns the order and the position that is shown; who waits and what is taken is loaded by others.
 */
import type { ConversationId, UserId } from './ids.ts';

export interface WaitingStart {
  readonly conversationId: ConversationId;
  readonly userId: UserId;
}

export interface StartQueue {
  /** Those that have no place yet, in the order in which they came. */
  readonly waiting: readonly WaitingStart[];
  /** Slots that are taken, by user. */
  readonly taken: ReadonlyMap<string, number>;
}

export interface SlotLimits {
  readonly installationMax: number;
  readonly userMax: number;
}

/**
 * Where each start stands that must wait, 1 for the next; one that is not in it has a slot waiting for it.
 * Free slots go to those that came first, within each user's limit: who cannot take one stands in nobody's way. A start
 * at its user's limit counts those of its user before it, another one everybody before it.
 */
export function queuePositions(
  { waiting, taken }: StartQueue,
  { installationMax, userMax }: SlotLimits,
): ReadonlyMap<ConversationId, number> {
  const used = new Map(taken);
  const behind = new Map<string, number>();
  let free = installationMax - slotsIn(taken);
  const positions = new Map<ConversationId, number>();
  for (const { conversationId, userId } of waiting) {
    const own = used.get(userId) ?? 0;
    if (free > 0 && own < userMax) {
      free -= 1;
      used.set(userId, own + 1);
      continue;
    }
    const ownBefore = behind.get(userId) ?? 0;
    behind.set(userId, ownBefore + 1);
    positions.set(conversationId, (own < userMax ? positions.size : ownBefore) + 1);
  }
  return positions;
}

export function slotsIn(taken: StartQueue['taken']): number {
  return [...taken.values()].reduce((sum, count) => sum + count, 0);
}

/** Milliseconds between two looks of the next one, per position: who stands far behind looks seldom. */
const LOOK_MS = 250;
const LOOK_MS_MAX = 30_000;

/** When a start that waits asks again. */
export function waitInQueue(position: number): number {
  return Math.min(LOOK_MS_MAX, position * LOOK_MS);
}
