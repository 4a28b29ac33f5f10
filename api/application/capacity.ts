/**
 * Saying no before anything is accepted when no slot is free (D17).
 * Owns the early answer; who gets the last slot of several is decided where slots are taken.
 */
import type { UserId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Application } from './application.ts';

/**
 * `forNew`: a sandbox of the warm pool would do, whose slot is taken already.
 * @throws ParleyError concurrency_limit_reached with `limit` and `current`
 */
export async function refuseWhenFull(
  { world, search }: Application,
  userId: UserId,
  { forNew }: { readonly forNew: boolean },
): Promise<void> {
  const { capacity, onFull } = world.deployment;
  if (onFull !== 'refuse') return;
  const taken = await search.slotsTaken(userId);
  if (taken.user >= capacity.userMax) throw full(capacity.userMax, taken.user);
  if (taken.installation < capacity.installationMax) return;
  if (forNew && (await world.warmPool.figures()).ready > 0) return;
  throw full(capacity.installationMax, taken.installation);
}

export function full(limit: number, current: number): ParleyError {
  return new ParleyError(
    'concurrency_limit_reached',
    `Cannot start: ${current} of ${limit} sandboxes are up`,
    { details: { limit, current } },
  );
}
