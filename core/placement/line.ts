/**
 * The line of those who wait for a slot, and whose turn it is (D29).
 * Owns the order: first come, first served, where nobody is held up by somebody whose own limit is reached. Pure: who
 * stands where comes in; must not reserve anything.
 */
import type { UserId } from '../ids.ts';

/** One place in the line; the line is in order of arrival. */
export interface Waiter<Id extends string = string> {
  readonly waiterId: Id;
  readonly userId: UserId;
}

/** How many slots there may be, and how many are taken. */
export interface SlotCounts {
  readonly installationMax: number;
  readonly userMax: number;
  readonly taken: number;
  readonly takenBy: (userId: UserId) => number;
}

/** Those of the line for whom there is a slot now, in its order. */
export function turnsOf<Id extends string>(
  line: readonly Waiter<Id>[],
  { installationMax, userMax, taken, takenBy }: SlotCounts,
): readonly Waiter<Id>[] {
  const turns: Waiter<Id>[] = [];
  const by = new Map<UserId, number>();
  for (const waiter of line) {
    if (taken + turns.length >= installationMax) break;
    const own = by.get(waiter.userId) ?? takenBy(waiter.userId);
    if (own >= userMax) continue;
    by.set(waiter.userId, own + 1);
    turns.push(waiter);
  }
  return turns;
}

/** Whether there is a slot for this one; who is not in the line stands at its end. */
export function isTurnOf(waiter: Waiter, line: readonly Waiter[], counts: SlotCounts): boolean {
  const isIn = line.some(({ waiterId }) => waiterId === waiter.waiterId);
  const turns = turnsOf(isIn ? line : [...line, waiter], counts);
  return turns.some(({ waiterId }) => waiterId === waiter.waiterId);
}

/** Slots as somebody who waits for one sees them. */
export interface TakenSlots {
  readonly limit: number;
  readonly current: number;
  /** Of those, held by sandboxes with conversations of the asker's run. */
  readonly ofRun: number;
}

/** `capacity (10 of 10 in use: 7 of this run, 3 others)`. */
export function describeWait({ limit, current, ofRun }: TakenSlots): string {
  const others = current - ofRun;
  return `capacity (${current} of ${limit} in use: ${ofRun} of this run, ${others} ${others === 1 ? 'other' : 'others'})`;
}
