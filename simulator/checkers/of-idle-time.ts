/**
 * Invariants of Idle Time, Deletion Time and the session window, after steps and at rest (D10).
 * Owns the checks on instants; those of the world are read from its true clock.
 */
import { LOOK_AGE_MAX_MS } from '../../core/limits.ts';
import { sessionEndOf } from '../../core/sandbox/session.ts';
import type { SandboxPhase, SandboxState } from '../../core/sandbox/state.ts';
import { SECOND_MS } from '../../core/time.ts';
import { type Finding, type Moment, PUNCTUAL, type Rest, type SafetyCheck } from './checker.ts';
import { sandboxesAt } from './of-rest.ts';

/**
 * I9: no sandbox with activity within its Idle Time is paused for idleness (D9, D10). Exact at the boundary, up to how
 * far the clock is off.
 */
export function idleMeansIdle({ step, facts, timeliness = PUNCTUAL }: Moment): string | null {
  const before = step.before as SandboxState | null;
  const { phase, releaseReason, limits, sandboxId } = step.after as SandboxState;
  if (before?.phase !== 'running' || phase !== 'pausing' || releaseReason !== 'idle') return null;
  if (step.event.type !== 'idleReached') return null;
  const { lookedAt } = step.event;
  // What happened between the poll and its answer could not be seen; an answer that is too old is not believed.
  const isOfLate = step.at - lookedAt <= LOOK_AGE_MAX_MS + timeliness.clockOffMs;
  const lastActivityAt = Math.max(before.sessionStartedAt ?? 0, facts.lastActivityAt(sandboxId, step.at));
  if (timeliness.isDisturbed && isOfLate && lastActivityAt >= lookedAt) return null;
  const quietMs = step.at - lastActivityAt;
  if (limits.idleTimeMs !== null && quietMs >= limits.idleTimeMs - timeliness.clockOffMs) return null;
  return `paused as idle ${quietMs} ms after its last activity`;
}

/**
 * I11: a timer removes nothing before the Deletion Time since the last release is over (D10). It remembers when each
 * was released, by the true clock; a user's deletion needs no time.
 */
export function deletionTime(): SafetyCheck {
  const releases = new Map<string, number>();
  return ({ step, timeliness = PUNCTUAL }: Moment) => {
    const before = step.before as SandboxState | null;
    const after = step.after as SandboxState;
    if (before === null || before.phase === after.phase) return null;
    const { sandboxId, limits } = before;
    // A boot ends the release, even when the pause that was requested meanwhile follows at once.
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

/** A resume that was requested meanwhile follows the stop in the same step: it was released all the same. */
function isReleased(before: SandboxState, after: SandboxState): boolean {
  if (before.phase === 'pausing' && after.phase === 'reserving') return true;
  return after.phase === 'released' || after.phase === 'error';
}

/** Phases that order the stop again until the runtime confirms it. */
const GOING_DOWN: ReadonlySet<SandboxPhase> = new Set<SandboxPhase>(['pausing', 'stopping', 'errorStopping']);

/**
 * B1: no runtime object is up longer than a session window, whatever its machine believes (D10). It remembers since
 * when each is up, by the true clock; one whose stop is being ordered is on its way down.
 */
export function lifeOfAnObject(): SafetyCheck {
  const upSince = new Map<string, Map<number, number>>();
  return ({ step, facts, timeliness = PUNCTUAL }: Moment) => {
    const { sandboxId, phase } = step.after as SandboxState;
    const live = facts.live.get(sandboxId);
    const known = upSince.get(sandboxId);
    if (live === undefined) {
      if (known !== undefined) upSince.delete(sandboxId);
      return null;
    }
    const since = known ?? new Map<number, number>();
    if (known === undefined) upSince.set(sandboxId, since);
    for (const generation of since.keys()) if (!live.has(generation)) since.delete(generation);
    for (const generation of live) {
      const at = since.get(generation);
      if (at === undefined) since.set(generation, step.at);
      else if (step.at > at && !GOING_DOWN.has(phase)) {
        const end = timeliness.upAfter(sessionEndOf(at) + 2 * timeliness.clockOffMs);
        if (step.at > end) return `generation ${generation} is up for ${step.at - at} ms, and it is ${phase}`;
      }
    }
    return null;
  };
}

/** Two polls of a watch that queries its runtime every five seconds. */
const POLLS_MS = 10 * SECOND_MS;

/** B2: no sandbox runs on idle after its Idle Time (D10). What faults hold up is a matter of rest (L2). */
export function idleBound({ step, facts, timeliness = PUNCTUAL }: Moment): string | null {
  const { phase, limits, sandboxId, sessionStartedAt, stale } = step.after as SandboxState;
  // A sandbox that could not be polled is checked anew from this step on.
  if (phase !== 'running' || stale || (step.before as SandboxState | null)?.stale === true) return null;
  if (limits.idleTimeMs === null || sessionStartedAt === null) return null;
  if (timeliness.isDisturbed || step.at <= sessionStartedAt + limits.idleTimeMs + POLLS_MS) return null;
  const last = Math.max(sessionStartedAt, facts.lastActivityAt(sandboxId, step.at));
  const overMs = step.at - last - limits.idleTimeMs;
  return overMs > POLLS_MS ? `it runs on ${overMs} ms after its Idle Time` : null;
}

/** Phases of a deletion that was requested; there is no way back. */
const GOING: ReadonlySet<SandboxPhase> = new Set<SandboxPhase>([
  'stopping',
  'archiving',
  'destroying',
  'errorStopping',
  'errorArchiving',
  'errorDestroying',
  'missing',
]);

/**
 * I24: a deletion that a user requested is never undone, a timer's waits for its archive, and the Deletion Time counts
 * from one release (D10, D12). Owns the checks on what a sandbox remembers of its deletion.
 */
export function deletionsAreFinal({ step }: Moment): string | null {
  const before = step.before as SandboxState | null;
  const after = step.after as SandboxState;
  return undone(step, after) ?? tooSoon(step, after) ?? begunAnew(step, before, after);
}

function undone({ event }: Moment['step'], { phase, deletedByUser }: SandboxState): string | null {
  const isAsked = deletedByUser || (event.type === 'deleteRequested' && phase !== 'missing');
  if (isAsked && !GOING.has(phase)) return `it is ${phase}, and its user has deleted it`;
  return isAsked && !deletedByUser ? 'its user has deleted it, and it does not know that' : null;
}

function tooSoon(
  { commands }: Moment['step'],
  { archive, deletedByUser, phase }: SandboxState,
): string | null {
  if (archive !== 'archive_failed' || deletedByUser || phase !== 'destroying') return null;
  return commands.some(({ type }) => type === 'destroySandbox')
    ? 'a timer removes its storage, and its archive failed'
    : null;
}

/** A resume that failed does not start it anew; a session in between does. */
function begunAnew(
  { event }: Moment['step'],
  before: SandboxState | null,
  { releasedAt }: SandboxState,
): string | null {
  const known = before?.releasedAt ?? null;
  return known === null || releasedAt === null || known === releasedAt
    ? null
    : `${event.type} starts its Deletion Time anew`;
}

/**
 * L2: an idle sandbox is paused when its Idle Time is over (D10). Due is due at the very instant on a virtual clock,
 * unless faults held something up.
 */
export function idlePauses(rest: Rest): readonly Finding[] {
  const { settleMs } = rest.timeliness ?? PUNCTUAL;
  const out = new Set(rest.outstanding.map(({ id }) => id));
  return sandboxesAt(rest).flatMap(({ entity, state }) => {
    const { phase, limits, sandboxId, sessionStartedAt, stale, watch } = state;
    if (phase !== 'running') return [];
    if (watch === null || !out.has(watch)) return [{ entity, problem: 'it runs, and nobody watches it' }];
    if (limits.idleTimeMs === null || stale) return [];
    const last = Math.max(sessionStartedAt ?? rest.now, rest.facts.lastActivityAt(sandboxId, rest.now));
    const overMs = rest.now - last - limits.idleTimeMs - settleMs;
    return overMs > 0 ? [{ entity, problem: `it is idle since ${overMs} ms too long, and runs` }] : [];
  });
}

/** L3: what is due for deletion is deleted (D10); a failed archive holds it up (D12). */
export function deletionsHappen(rest: Rest): readonly Finding[] {
  const { settleMs } = rest.timeliness ?? PUNCTUAL;
  return sandboxesAt(rest).flatMap(({ entity, state }) => {
    const { phase, limits, releasedAt, archive } = state;
    if (phase !== 'released' && phase !== 'error') return [];
    if (releasedAt === null || limits.deletionTimeMs === null || archive === 'archive_failed') return [];
    const overMs = rest.now - releasedAt - limits.deletionTimeMs - settleMs;
    return overMs > 0 ? [{ entity, problem: `its deletion is due since ${overMs} ms` }] : [];
  });
}
