/**
 * Keeps when something last reached a sandbox, if it counts.
 * Owns the write; what counts is said in core/sandbox/activity.ts.
 */
import { isActivity, type Contact } from '../core/sandbox/activity.ts';
import type { SandboxId } from '../core/ids.ts';
import type { World } from './world.ts';

export async function keepContact(
  { activity, clock }: Pick<World, 'activity' | 'clock'>,
  sandboxId: SandboxId,
  contact: Contact,
): Promise<void> {
  if (isActivity(contact)) await activity.touch(sandboxId, clock.now());
}
