/**
 * I11: a timer removes nothing before the Deletion Time since the last release is over (D10).
 * Owns the one check; a user's deletion needs no time.
 */
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { Moment } from './checker.ts';

export function deletionTime({ step }: Moment): string | null {
  const before = step.before as SandboxState | null;
  if (before === null || step.event.type !== 'deadline') return null;
  if (before.phase !== 'released' && before.phase !== 'error') return null;
  const { releasedAt, limits } = before;
  const sinceMs = step.at - (releasedAt ?? step.at);
  if (limits.deletionTimeMs !== null && sinceMs >= limits.deletionTimeMs) return null;
  return `a timer removes it ${sinceMs} ms after its release`;
}
