/**
 * Slots in memory, and the line of those who wait for one.
 * Owns who holds and who waits; whose turn it is, is decided by core/placement/line.ts (D17, D29).
 */
import type { SandboxId, UserId } from '../../core/ids.ts';
import type { HostWorkers } from '../hosts/host-workers.ts';
import { positionOf, turnsOf, type SlotCounts, type Waiter } from '../../core/placement/line.ts';
import type { Policy } from './model-options.ts';

/** Why there is no slot. */
export interface FullSlots {
  readonly current: number;
  readonly limit: number;
  /** Where whoever asked stands or would stand in the line. */
  readonly position: number;
  /** No host that is known will ever do. */
  readonly noHost?: string;
}

export class SlotModel {
  /** Sandboxes that hold a slot, with their user. */
  readonly holders = new Map<SandboxId, UserId>();
  private readonly slotsOfUser = new Map<UserId, number>();
  /** Those who wait for a slot, in order of arrival. */
  private readonly line = new Map<string, Waiter>();
  private readonly capacity: Policy['capacity'];

  private readonly hosts: HostWorkers | null;

  /** `hosts`: slots are those of hosts as well; null: sandboxes are bound to none. */
  constructor(capacity: Policy['capacity'], hosts: HostWorkers | null = null) {
    this.capacity = capacity;
    this.hosts = hosts;
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
    const elsewhere = this.hosts === null ? null : this.fullHosts(this.hosts, sandboxId, waiterId);
    if (elsewhere !== null) return elsewhere;
    this.holders.set(sandboxId, userId);
    this.slotsOfUser.set(userId, own + 1);
    return null;
  }

  /** The slots of the hosts are asked for last, as in a store: null when one has room, which is taken then. */
  private fullHosts({ table }: HostWorkers, sandboxId: SandboxId, waiterId: string): FullSlots | null {
    const choice = table.takeSlot(sandboxId);
    switch (choice.kind) {
      case 'chosen':
        return null;
      case 'none':
        return { current: 0, limit: 0, position: this.line.size + 1, noHost: choice.reason };
      case 'full': {
        const place = [...this.line.keys()].indexOf(waiterId);
        const { current, limit } = choice;
        return { current, limit, position: (place < 0 ? this.line.size : place) + 1 };
      }
    }
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

  /** It holds none any more and will never ask for one again. */
  end(sandboxId: SandboxId): void {
    this.giveBack(sandboxId);
    this.hosts?.ended(sandboxId);
  }

  giveBack(sandboxId: SandboxId): void {
    // A resume that was given up waits for none.
    this.line.delete(sandboxId);
    const user = this.holders.get(sandboxId);
    if (user === undefined) return;
    this.hosts?.table.giveBack(sandboxId);
    this.holders.delete(sandboxId);
    this.slotsOfUser.set(user, (this.slotsOfUser.get(user) ?? 1) - 1);
  }
}
