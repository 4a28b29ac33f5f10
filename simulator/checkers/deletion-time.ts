/**
 * I11: a timer removes nothing before the Deletion Time since the last release is over (D10).
 * Owns the memory of when each was released, by the true clock; a user's deletion needs no time.
 */
import type { SandboxState } from '../../core/sandbox/state.ts';
import { PUNCTUAL, type Moment, type SafetyCheck } from './checker.ts';

export function deletionTime(): SafetyCheck {
  const releases = new Map<string, number>();
  return ({ step, timeliness = PUNCTUAL }: Moment) => {
    const before = step.before as SandboxState | null;
    const after = step.after as SandboxState;
    if (before === null || before.phase === after.phase) return null;
    const { sandboxId, limits } = before;
    // A boot ends the release, even when the pause that was wished meanwhile follows at once.
    if (step.event.type === 'sandboxReady' || after.phase === 'missing') releases.delete(sandboxId);
    else if (isReleased(before, after)) {
      // A resume that failed, or a deletion that waits, does not start it anew.
      if (!releases.has(sandboxId)) releases.set(sandboxId, step.at);
      return null;
    }
    if (step.event.type !== 'deadline') return null;
    if (before.phase !== 'released' && before.phase !== 'error') return null;
    const sinceMs = step.at - (releases.get(sandboxId) ?? before.releasedAt ?? step.at);
    // The release and its end are read from the same clock, at two instants.
    const toleranceMs = 2 * timeliness.clockOffMs;
    if (limits.deletionTimeMs !== null && sinceMs >= limits.deletionTimeMs - toleranceMs) return null;
    return `a timer removes it ${sinceMs} ms after its release`;
  };
}

/** A resume that was wished meanwhile follows the stop in the same step: it was released all the same. */
function isReleased(before: SandboxState, after: SandboxState): boolean {
  if (before.phase === 'pausing' && after.phase === 'reserving') return true;
  return after.phase === 'released' || after.phase === 'error';
}
