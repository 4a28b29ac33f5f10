/**
 * L2: an idle sandbox is paused when its Idle Time is over (D10).
 * Owns the one check; due is due at the very instant on a virtual clock, unless faults held something up.
 */
import { PUNCTUAL, type Finding, type Rest } from './checker.ts';
import { sandboxesAt } from './states-at-rest.ts';

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
