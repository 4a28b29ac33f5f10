/**
 * I2: no more sandboxes hold a slot than the policy allows, in all and for one user (D17).
 * Owns the one check; must not decide who gets a slot.
 */
import type { Moment } from './checker.ts';

export function withinCapacity({ facts }: Moment): string | null {
  const { installationMax, userMax } = facts.policy.capacity;
  const { slots } = facts;
  if (slots.size > installationMax)
    return `${slots.size} slots are held, and the limit is ${installationMax}`;
  if (slots.size <= userMax) return null;
  const byUser = new Map<string, number>();
  for (const user of slots.values()) byUser.set(user, (byUser.get(user) ?? 0) + 1);
  for (const [user, count] of byUser)
    if (count > userMax) return `user "${user}" holds ${count} slots of ${userMax}`;
  return null;
}
