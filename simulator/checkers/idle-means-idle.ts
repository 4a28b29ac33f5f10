/**
 * I9: no sandbox with activity within its Idle Time is paused for idleness (D9, D10).
 * Owns the one check; exact at the boundary, up to how far the clock is off.
 */
import { LOOK_AGE_MAX_MS } from '../../core/limits.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import { PUNCTUAL, type Moment } from './checker.ts';

export function idleMeansIdle({ step, facts, timeliness = PUNCTUAL }: Moment): string | null {
  const before = step.before as SandboxState | null;
  const { phase, releaseReason, limits, sandboxId } = step.after as SandboxState;
  if (before?.phase !== 'running' || phase !== 'pausing' || releaseReason !== 'idle') return null;
  if (step.event.type !== 'idleReached') return null;
  const { lookedAt } = step.event;
  // What happened between the look and its answer could not be seen; an answer that is too old is not believed.
  const isOfLate = step.at - lookedAt <= LOOK_AGE_MAX_MS + timeliness.clockOffMs;
  const lastActivityAt = Math.max(before.sessionStartedAt ?? 0, facts.lastActivityAt(sandboxId, step.at));
  if (timeliness.isDisturbed && isOfLate && lastActivityAt >= lookedAt) return null;
  const quietMs = step.at - lastActivityAt;
  if (limits.idleTimeMs !== null && quietMs >= limits.idleTimeMs - timeliness.clockOffMs) return null;
  return `paused as idle ${quietMs} ms after its last activity`;
}
