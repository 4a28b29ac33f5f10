/**
 * I2: whatever is up holds a slot, and no more are held than the policy allows, in all and for one user (D17).
 * Owns the one check; must not decide who gets a slot.
 */
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { Moment } from './checker.ts';

export function withinCapacity({ step, facts }: Moment): string | null {
  const { sandboxId } = step.after as SandboxState;
  if (facts.live.has(sandboxId) && !facts.slots.has(sandboxId)) return 'it is up, and holds no slot';
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
