/**
 * Slots in memory, and the line of those who wait for one.
 * Owns who holds and who waits; whose turn it is, is decided by core/placement/line.ts (D17, D29).
 */
import type { SandboxId, UserId } from '../../core/ids.ts';
import { positionOf, turnsOf, type SlotCounts, type Waiter } from '../../core/placement/line.ts';
import type { Policy } from './model-options.ts';

/** Why there is no slot. */
export interface FullSlots {
  readonly current: number;
  readonly limit: number;
  /** Where whoever asked stands or would stand in the line. */
  readonly position: number;
}

export class SlotModel {
  /** Sandboxes that hold a slot, with their user. */
  readonly holders = new Map<SandboxId, UserId>();
  private readonly slotsOfUser = new Map<UserId, number>();
  /** Those who wait for a slot, in order of arrival. */
  private readonly line = new Map<string, Waiter>();
  private readonly capacity: Policy['capacity'];

  constructor(capacity: Policy['capacity']) {
    this.capacity = capacity;
  }

  /** Who stands there already keeps its place. */
  joinLine(waiter: Waiter): void {
    if (!this.line.has(waiter.waiterId)) this.line.set(waiter.waiterId, waiter);
  }

  /** Whether it stood there. */
  leaveLine(id: string): boolean {
    return this.line.delete(id);
  }

  /** Null when the slot is held now; else why not (D17). What is free for the line is for nobody behind it (D29). */
  take(sandboxId: SandboxId, userId: UserId, waiterId = ''): FullSlots | null {
    if (this.holders.has(sandboxId)) return null;
    const { installationMax, userMax } = this.capacity;
    const own = this.slotsOfUser.get(userId) ?? 0;
    const isFull = own >= userMax || this.holders.size >= installationMax;
    const mayTake = !isFull && this.line.size === 0;
    const position = mayTake ? null : positionOf({ waiterId, userId }, this.waiters(), this.slotCounts());
    if (position !== null)
      return own >= userMax
        ? { current: own, limit: userMax, position }
        : { current: this.holders.size, limit: installationMax, position };
    this.holders.set(sandboxId, userId);
    this.slotsOfUser.set(userId, own + 1);
    return null;
  }

  /** For whom of the line there is a slot now. */
  nextInLine(): readonly Waiter[] {
    return this.line.size === 0 ? [] : turnsOf(this.waiters(), this.slotCounts());
  }

  private waiters(): readonly Waiter[] {
    return [...this.line.values()];
  }

  private slotCounts(): SlotCounts {
    const { installationMax, userMax } = this.capacity;
    const takenBy = (user: UserId): number => this.slotsOfUser.get(user) ?? 0;
    return { installationMax, userMax, taken: this.holders.size, takenBy };
  }

  giveBack(sandboxId: SandboxId): void {
    // A resume that was given up waits for none.
    this.line.delete(sandboxId);
    const user = this.holders.get(sandboxId);
    if (user === undefined) return;
    this.holders.delete(sandboxId);
    this.slotsOfUser.set(user, (this.slotsOfUser.get(user) ?? 1) - 1);
  }
}
