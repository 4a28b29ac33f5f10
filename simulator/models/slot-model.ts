/**
 * Slots in memory, and the line of those who wait for one.
 * Owns who holds and who waits; whose turn it is, is decided by core/placement/line.ts (D17, D29).
 */
import type { SandboxId, UserId } from '../../core/ids.ts';
import type { HostWorkers } from '../hosts/host-workers.ts';
import { fullSlots, slotReadyFor, type SlotCounts, type Waiter } from '../../core/placement/line.ts';
import { slotOn, type NoSlot } from '../../core/placement/slot-choice.ts';
import type { Policy } from './model-options.ts';

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

  /** Null when the slot is held now; else why not (D17). */
  take(sandboxId: SandboxId, userId: UserId, waiterId = ''): NoSlot | null {
    if (this.holders.has(sandboxId)) return null;
    const line = this.waiters();
    const full = fullSlots({ waiterId, userId }, line, this.slotCounts());
    if (full !== null) return full;
    if (this.hosts !== null) {
      const place = line.findIndex((waiter) => waiter.waiterId === waiterId);
      const ahead = place < 0 ? line.length : place;
      const room = slotOn(this.hosts.table.takeSlot(sandboxId), ahead + 1);
      if (room.kind !== 'granted') return room;
    }
    this.holders.set(sandboxId, userId);
    this.slotsOfUser.set(userId, (this.slotsOfUser.get(userId) ?? 0) + 1);
    return null;
  }

  hostOf(id: SandboxId): string | undefined {
    return this.hosts?.homeOf(id) ?? undefined;
  }

  /** For whom of the line there is a slot now. */
  nextInLine(): readonly Waiter[] {
    return this.line.size === 0 ? [] : slotReadyFor(this.waiters(), this.slotCounts());
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
