/**
 * What happens when no sandbox slot is free (D17).
 * Owns the three policies; a sandbox with a working agent is never paused to make room.
 */
import type { UserId } from '../core/ids.ts';
import { ParleyError } from '../core/parley-error.ts';
import { waitInQueue } from '../core/start-queue.ts';
import type { World } from './world.ts';

interface Asker {
  readonly userId: UserId;
  readonly commandId: string;
  /** Where it stands among the starts that wait; absent: it is no start. */
  readonly position?: number | undefined;
}

/**
 * Returns when the policy is to refuse. Otherwise throws a retryable error, so that the command is tried again,
 * after asking the longest-idle sandbox to make room when the policy says so.
 * @throws ParleyError concurrency_limit_reached
 */
export async function meetFullCapacity(world: World, asker: Asker): Promise<void> {
  const { onFull } = world.deployment;
  const { position } = asker;
  if (onFull === 'refuse') return;
  if (onFull === 'pause_longest_idle') await makeRoom(world, asker);
  const again = position === undefined ? {} : { againInMs: waitInQueue(position) };
  throw new ParleyError('concurrency_limit_reached', 'Cannot take a sandbox slot: all are in use', again);
}

/** Asks the sandbox whose agents rest longest to go. */
export async function makeRoom(world: World, asker: Asker): Promise<void> {
  const id = await world.placement.longestIdle(asker.userId, asker.position ?? 1);
  if (id === null) return;
  const requestId = `capacity/${asker.commandId}/${id}`;
  await world.notifier.deliver({
    to: { machine: 'sandbox', id },
    event: { type: 'pauseRequested', requestId, reason: 'capacity' },
  });
}
