/**
 * How a wait for a sandbox slot is described, and which sandbox is requested to make room for it (D17, D29).
 * Owns what `capacity.on_full: pause_longest_idle` does; a sandbox with a working agent is never paused to make room.
 */
import type { UserId } from '../core/ids.ts';
import { describeWait, pollForHostMs, pollForRoomMs, type TakenSlots } from '../core/placement/line.ts';
import type { World } from './world.ts';

interface Waiting {
  readonly userId: UserId;
  readonly commandId: string;
  readonly slots: TakenSlots;
}

export interface WaitAnswer {
  readonly detail: string;
  /** Set where no event wakes the waiter when an agent stops working, or when a host is back. */
  readonly lookAgainMs?: number;
}

/** Describes the wait; where the policy says so, requests a pause of the sandbox whose agents are idle longest. */
export async function answerWait(world: World, { userId, commandId, slots }: Waiting): Promise<WaitAnswer> {
  const detail = describeWait(slots);
  const { position, waitsFor } = slots;
  const isForHost = waitsFor !== undefined;
  // No pause makes room on a host that is not there.
  if (world.deployment.onFull !== 'pause_longest_idle' || waitsFor?.hosts.length === 0)
    return isForHost ? { detail, lookAgainMs: pollForHostMs(position) } : { detail };
  const id = await world.placement.longestIdle(userId, position, waitsFor?.hosts);
  if (id !== null) {
    const requestId = `capacity/${commandId}/${id}`;
    await world.notifier.deliver({
      to: { machine: 'sandbox', id },
      event: { type: 'pauseRequested', requestId, reason: 'capacity' },
    });
  }
  return { detail, lookAgainMs: pollForRoomMs(position) };
}
