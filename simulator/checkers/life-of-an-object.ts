/**
 * B1: no runtime object is up longer than a session window, whatever its machine believes (D10).
 * Owns the memory of since when each is up, by the true clock; one whose stop is being asked for is on its way down.
 */
import type { SandboxPhase, SandboxState } from '../../core/sandbox/state.ts';
import { sessionEndOf } from '../../core/sandbox/session.ts';
import { PUNCTUAL, type Moment, type SafetyCheck } from './checker.ts';

/** Phases that ask for the stop again until the runtime confirms it. */
const GOING_DOWN: ReadonlySet<SandboxPhase> = new Set<SandboxPhase>(['pausing', 'stopping', 'errorStopping']);

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
