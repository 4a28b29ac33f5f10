/**
 * L2: an idle sandbox is paused when its Idle Time is over (D10).
 * Owns the one check; due is due at the very instant, on a virtual clock.
 */
import type { Finding, Rest } from './checker.ts';
import { sandboxesAt } from './states-at-rest.ts';

export function idlePauses(rest: Rest): readonly Finding[] {
  return sandboxesAt(rest).flatMap(({ entity, state }) => {
    const { phase, limits, sandboxId, sessionStartedAt, stale } = state;
    if (phase !== 'running' || limits.idleTimeMs === null || stale) return [];
    const last = Math.max(sessionStartedAt ?? rest.now, rest.facts.lastActivityAt(sandboxId, rest.now));
    const overMs = rest.now - last - limits.idleTimeMs;
    return overMs > 0 ? [{ entity, problem: `it is idle since ${overMs} ms too long, and runs` }] : [];
  });
}
