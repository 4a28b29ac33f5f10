/**
 * Slots in memory, and the line of those who wait for one.
 * Owns who holds and who waits; whose turn it is, is decided by core/placement/line.ts (D17, D29).
 */
import type { ConversationId, SandboxId, UserId } from '../../core/ids.ts';
import { isTurnOf, turnsOf, type SlotCounts, type Waiter } from '../../core/placement/line.ts';
import type { Policy } from './model-options.ts';

/** Why there is no slot. */
export interface FullSlots {
  readonly current: number;
  readonly limit: number;
}

export class SlotModel {
  /** Sandboxes that hold a slot, with their user. */
  readonly holders = new Map<SandboxId, UserId>();
  private readonly slotsOfUser = new Map<UserId, number>();
  /** Those who wait for a slot, in order of arrival. */
  private readonly line = new Map<ConversationId, UserId>();
  private readonly capacity: Policy['capacity'];

  constructor(capacity: Policy['capacity']) {
    this.capacity = capacity;
  }

  /** Who stands there already keeps its place. */
  joinLine(id: ConversationId, userId: UserId): void {
    if (!this.line.has(id)) this.line.set(id, userId);
  }

  leaveLine(id: ConversationId): void {
    this.line.delete(id);
  }

  /** Null when the slot is held now; else why not (D17). What is free for the line is for nobody behind it (D29). */
  take(sandboxId: SandboxId, userId: UserId, waiterId?: ConversationId): FullSlots | null {
    if (this.holders.has(sandboxId)) return null;
    const { installationMax, userMax } = this.capacity;
    const own = this.slotsOfUser.get(userId) ?? 0;
    if (own >= userMax) return { current: own, limit: userMax };
    if (this.holders.size >= installationMax) return { current: this.holders.size, limit: installationMax };
    const isTurn =
      this.line.size === 0 ||
      isTurnOf({ waiterId: waiterId ?? '', userId }, this.waiters(), this.slotCounts());
    if (!isTurn) return { current: own, limit: userMax };
    this.holders.set(sandboxId, userId);
    this.slotsOfUser.set(userId, own + 1);
    return null;
  }

  /** For whom of the line there is a slot now. */
  nextInLine(): readonly ConversationId[] {
    if (this.line.size === 0) return [];
    return turnsOf(this.waiters(), this.slotCounts()).map(({ waiterId }) => waiterId);
  }

  private waiters(): readonly Waiter<ConversationId>[] {
    return [...this.line].map(([waiterId, userId]) => ({ waiterId, userId }));
  }

  private slotCounts(): SlotCounts {
    const { installationMax, userMax } = this.capacity;
    const takenBy = (user: UserId): number => this.slotsOfUser.get(user) ?? 0;
    return { installationMax, userMax, taken: this.holders.size, takenBy };
  }

  giveBack(sandboxId: SandboxId): void {
    const user = this.holders.get(sandboxId);
    if (user === undefined) return;
    this.holders.delete(sandboxId);
    this.slotsOfUser.set(user, (this.slotsOfUser.get(user) ?? 1) - 1);
  }
}
