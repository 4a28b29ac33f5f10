/**
 * Messages between machines that are late, out of order, or there twice.
 * Owns the delays of tells; every one arrives in the end.
 */
import type { MachineEvent } from '../../core/machine/command.ts';
import { addressKey, type EntityAddress } from '../../core/ids.ts';
import { figureIn, TELL_DELAY } from './figures.ts';
import type { Opportunities } from './opportunities.ts';

const AT_ONCE: readonly number[] = [0];

export class TransportFaults {
  /** Until when the messages of one machine to another wait behind a late one. */
  private readonly queues = new Map<string, number>();
  private readonly opportunities: Opportunities;
  private readonly now: () => number;

  constructor(opportunities: Opportunities, now: () => number) {
    this.opportunities = opportunities;
    this.now = now;
  }

  /** Milliseconds until each copy arrives. */
  delaysMs(from: EntityAddress, to: EntityAddress, event: MachineEvent): readonly number[] {
    if (!this.opportunities.any('tell_delayed', 'tell_delayed_in_order', 'tell_repeated')) return AT_ONCE;
    const where = this.opportunities.name(`tell/${event.type}/${addressKey(to)}`, from);
    const first = this.delayMs(`${addressKey(from)}>${addressKey(to)}`, where, from);
    const twice = this.opportunities.strikes('tell_repeated', where, from);
    if (twice !== null) return [first, first + figureIn(TELL_DELAY, twice)];
    return first === 0 ? AT_ONCE : [first];
  }

  private delayMs(queue: string, where: string, from: EntityAddress): number {
    const anyOrder = this.opportunities.strikes('tell_delayed', where, from);
    if (anyOrder !== null) return figureIn(TELL_DELAY, anyOrder);
    const inOrder = this.opportunities.strikes('tell_delayed_in_order', where, from);
    const behind = this.queues.get(queue);
    if (inOrder === null && behind === undefined) return 0;
    const now = this.now();
    // One that arrives at this very instant may still wait in the order of things: whatever follows waits longer.
    const afterMs = behind !== undefined && behind >= now ? Math.max(1, behind - now) : 0;
    const delayMs = afterMs + (inOrder === null ? 0 : figureIn(TELL_DELAY, inOrder));
    if (delayMs === 0) this.queues.delete(queue);
    else this.queues.set(queue, now + Math.min(delayMs, TELL_DELAY.maxMs));
    return Math.min(delayMs, TELL_DELAY.maxMs);
  }
}
