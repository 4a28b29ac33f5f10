/**
 * The line of those who wait for a slot, and whose turn it is (D29).
 * Owns the order: first come, first served, where nobody is held up by somebody whose own limit is reached. Pure: who
 * stands where comes in; must not reserve anything.
 */
import type { UserId } from '../ids.ts';

/** One place in the line, of a conversation that is to be placed or a sandbox that is to resume; in order of arrival. */
export interface Waiter {
  readonly waiterId: string;
  readonly machine: 'conversation' | 'sandbox';
  readonly userId: UserId;
}

/** How many slots there may be, and how many are taken. */
export interface SlotCounts {
  readonly installationMax: number;
  readonly userMax: number;
  readonly taken: number;
  readonly takenBy: (userId: UserId) => number;
}

/**
 * Where each stands that must wait, 1 for the next; one that is not in it has a slot waiting for it.
 * Who is at its user's limit counts those of its user before it, another one everybody before it.
 */
export function positionsOf(
  line: readonly Pick<Waiter, 'waiterId' | 'userId'>[],
  { installationMax, userMax, taken, takenBy }: SlotCounts,
): ReadonlyMap<string, number> {
  const used = new Map<UserId, number>();
  const behind = new Map<UserId, number>();
  const positions = new Map<string, number>();
  let free = installationMax - taken;
  for (const { waiterId, userId } of line) {
    const own = used.get(userId) ?? takenBy(userId);
    if (free > 0 && own < userMax) {
      free -= 1;
      used.set(userId, own + 1);
      continue;
    }
    const ownBefore = behind.get(userId) ?? 0;
    behind.set(userId, ownBefore + 1);
    positions.set(waiterId, (own < userMax ? positions.size : ownBefore) + 1);
  }
  return positions;
}

/** Those of the line for whom there is a slot now, in its order. */
export function turnsOf<One extends Pick<Waiter, 'waiterId' | 'userId'>>(
  line: readonly One[],
  counts: SlotCounts,
): readonly One[] {
  const positions = positionsOf(line, counts);
  return line.filter(({ waiterId }) => !positions.has(waiterId));
}

/** Null when there is a slot for this one, else where it stands; who is not in the line stands at its end. */
export function positionOf(
  waiter: Pick<Waiter, 'waiterId' | 'userId'>,
  line: readonly Waiter[],
  counts: SlotCounts,
): number | null {
  const isIn = line.some(({ waiterId }) => waiterId === waiter.waiterId);
  return positionsOf(isIn ? line : [...line, waiter], counts).get(waiter.waiterId) ?? null;
}

/** Slots as somebody who waits for one sees them. */
export interface TakenSlots {
  readonly limit: number;
  readonly current: number;
  /** Of those, held by sandboxes with conversations of the asker's run; null outside a run. */
  readonly ofRun: number | null;
  /** Where the asker stands in the line, 1 for the next. */
  readonly position: number;
}

/** `capacity (10 of 10 in use: 7 of this run, 3 others)`. */
export function describeWait({ limit, current, ofRun }: Omit<TakenSlots, 'position'>): string {
  if (ofRun === null) return `capacity (${current} of ${limit} in use)`;
  const others = current - ofRun;
  return `capacity (${current} of ${limit} in use: ${ofRun} of this run, ${others} ${others === 1 ? 'other' : 'others'})`;
}

/** Milliseconds between two looks for an idle sandbox that could make room, per position. */
const POLL_MS = 1_000;
const POLL_MS_MAX = 30_000;

/** When one that waits asks for room again where idle sandboxes are to make it: nobody tells it that an agent rests. */
export function pollForRoomMs(position: number): number {
  return Math.min(POLL_MS_MAX, position * POLL_MS);
}
