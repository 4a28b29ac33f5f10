/**
 * Which sandbox is asked to make room for one that waits for a slot (D17).
 * Owns the choice among those that hold slots; whether it is paused is decided by its machine.
 */
import type { SandboxId } from '../ids.ts';
import type { SandboxRow } from '../machine/projection.ts';
import { isLeaving } from '../sandbox/row.ts';
import { byActivity } from './place.ts';

/** A sandbox that holds a slot. */
export interface SlotHolder extends Pick<SandboxRow, 'sandboxId' | 'createdAt' | 'available' | 'transition'> {
  readonly draining: boolean;
  readonly lastActivityAt: number;
  /** A conversation in it works or starts; one without a record yet starts. */
  readonly isAtWork: boolean;
  /** Where it lives; absent: bound to no host. */
  readonly host?: string | undefined;
}

interface Wanted {
  /** Slots that are waited for; absent: one, whatever is on its way down. */
  readonly wanted?: number | undefined;
  /** On one of these; absent: wherever it lives. */
  readonly hosts?: readonly string[] | undefined;
}

/** Null when all are at work, or when as many as are wanted are on their way down: each gives its slot back soon. */
export function longestIdle(
  holders: readonly SlotHolder[],
  { wanted = Infinity, hosts }: Wanted,
): SandboxId | null {
  const leaving = holders.filter(
    ({ available, transition }) => !available && (transition === 'pausing' || isLeaving(transition)),
  );
  if (leaving.length >= wanted) return null;
  const idle = holders.filter(
    ({ available, draining, isAtWork, host = '' }) =>
      available && !draining && !isAtWork && (hosts === undefined || hosts.includes(host)),
  );
  return idle.sort(byActivity)[0]?.sandboxId ?? null;
}
