/**
 * The line of those that wait for a slot, and whose turn it is (D29).
 * Owns the order: first come, first served, where a waiter whose own limit is reached does not hold up others. Pure:
 * the line comes in; must not reserve anything.
 */
import type { UserId } from '../ids.ts';
import { CAPACITY_POLL_MS } from '../limits.ts';
import type { HostWait } from './choose-host.ts';
import type { TakeSeat, WaiterHost } from './host-seats.ts';

/** One place in the line, of a conversation that is to be placed or a sandbox that is to resume; in order of arrival. */
export interface Waiter {
  readonly waiterId: string;
  readonly machine: 'conversation' | 'sandbox';
  readonly userId: UserId;
  /** What its host must be; absent: any will do. */
  readonly host?: WaiterHost | undefined;
}

type InLine = Pick<Waiter, 'waiterId' | 'userId' | 'host'>;

/** How many slots there may be, and how many are taken. */
export interface SlotCounts {
  readonly installationMax: number;
  readonly userMax: number;
  readonly taken: number;
  readonly takenBy: (userId: UserId) => number;
  /** Absent: sandboxes are bound to no host. */
  readonly takeSeat?: TakeSeat;
}

/**
 * The position of each that must wait, 1 for the next; one that is not in the map has a slot waiting for it. A waiter
 * at its user's limit counts those of its user before it, any other counts all before it.
 */
export function positionsOf(
  line: readonly InLine[],
  { installationMax, userMax, taken, takenBy, takeSeat = () => true }: SlotCounts,
): ReadonlyMap<string, number> {
  const used = new Map<UserId, number>();
  const behind = new Map<UserId, number>();
  const positions = new Map<string, number>();
  let free = installationMax - taken;
  for (const waiter of line) {
    const { waiterId, userId } = waiter;
    const own = used.get(userId) ?? takenBy(userId);
    if (free > 0 && own < userMax && takeSeat(waiter)) {
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
export function slotReadyFor<One extends InLine>(line: readonly One[], counts: SlotCounts): readonly One[] {
  const positions = positionsOf(line, counts);
  return line.filter(({ waiterId }) => !positions.has(waiterId));
}

/** Null when there is a slot for this one, else its position; one that is not in the line stands at its end. */
export function positionOf(waiter: InLine, line: readonly Waiter[], counts: SlotCounts): number | null {
  const isIn = line.some(({ waiterId }) => waiterId === waiter.waiterId);
  return positionsOf(isIn ? line : [...line, waiter], counts).get(waiter.waiterId) ?? null;
}

/**
 * Null when there is a slot for the asker. The user's own limit is the one named when both are reached (D17); what is
 * free for those before it in the line is not free for it.
 */
export function fullSlots(
  asker: InLine,
  line: readonly Waiter[],
  counts: SlotCounts,
): Omit<FullSlots, 'waitsFor'> | null {
  const { installationMax, userMax, taken, takenBy } = counts;
  const position = positionOf(asker, line, counts);
  if (position === null) return null;
  const current = takenBy(asker.userId);
  return current >= userMax
    ? { kind: 'refused', limit: userMax, current, position }
    : { kind: 'refused', limit: installationMax, current: taken, position };
}

/** Of `limit` slots `current` are taken; `position`: the asker's place in the line, or at its end; 1 for the next. */
export interface FullSlots extends Omit<TakenSlots, 'ofRun'> {
  readonly kind: 'refused';
}

/** Slots as one that waits for a slot sees them. */
export interface TakenSlots {
  readonly limit: number;
  readonly current: number;
  /** Of those, held by sandboxes with conversations of the asker's run; null outside a run. */
  readonly ofRun: number | null;
  /** Where the asker stands in the line, 1 for the next. */
  readonly position: number;
  /** Absent for one that any host will do for. */
  readonly waitsFor?: HostWait;
}

/** `capacity (10 of 10 in use: 7 of this run, 3 others)`. */
export function describeWait({ limit, current, ofRun, waitsFor }: Omit<TakenSlots, 'position'>): string {
  if (waitsFor !== undefined) return waitsFor.said;
  if (ofRun === null) return `capacity (${current} of ${limit} in use)`;
  const others = current - ofRun;
  return `capacity (${current} of ${limit} in use: ${ofRun} of this run, ${others} ${others === 1 ? 'other' : 'others'})`;
}

/** Milliseconds between two polls for an idle sandbox that could make room, per position. */
const POLL_MS = 1_000;
const POLL_MS_MAX = 30_000;

/** When a waiter polls for room that idle sandboxes would make: no notice reaches it when an agent comes to rest. */
export function pollForRoomMs(position: number): number {
  return Math.min(POLL_MS_MAX, position * POLL_MS);
}

/** The longer a waiter has waited, the later it polls again, so that a wait for a night costs few polls. */
const WAITED_PER_POLL = 120;

/** How long a waiter waits for an offer of room before it polls by itself; `lookAgainMs` as placement answered. */
export function pollAgainMs(lookAgainMs: number | undefined, waitedMs: number): number {
  const rarely = Math.min(POLL_MS_MAX, Math.floor(waitedMs / WAITED_PER_POLL));
  return Math.max(lookAgainMs ?? CAPACITY_POLL_MS, rarely);
}

/** Beside the notice of a worker that begins: its lease may run again, or its labels may be others. */
const POLL_FOR_HOST_MS = 60_000;

/** When a waiter for a host of its own polls again: those in front more often than those behind. */
export function pollForHostMs(position: number): number {
  return Math.min(CAPACITY_POLL_MS, POLL_FOR_HOST_MS + position * POLL_MS);
}
