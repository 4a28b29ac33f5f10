/**
 * B2: no sandbox runs on idle after its Idle Time (D10).
 * Owns the one check while nothing disturbs the driver; what faults hold up is a matter of rest (L2).
 */
import type { SandboxState } from '../../core/sandbox/state.ts';
import { SECOND_MS } from '../../core/time.ts';
import { PUNCTUAL, type Moment } from './checker.ts';

/** Two looks of a watch that asks its runtime every five seconds. */
const POLLS_MS = 10 * SECOND_MS;

export function idleBound({ step, facts, timeliness = PUNCTUAL }: Moment): string | null {
  const { phase, limits, sandboxId, sessionStartedAt, stale } = step.after as SandboxState;
  // Whoever could not be asked is looked at anew from this step on.
  if (phase !== 'running' || stale || (step.before as SandboxState | null)?.stale === true) return null;
  if (limits.idleTimeMs === null || sessionStartedAt === null) return null;
  if (timeliness.isDisturbed || step.at <= sessionStartedAt + limits.idleTimeMs + POLLS_MS) return null;
  const last = Math.max(sessionStartedAt, facts.lastActivityAt(sandboxId, step.at));
  const overMs = step.at - last - limits.idleTimeMs;
  return overMs > POLLS_MS ? `it runs on ${overMs} ms after its Idle Time` : null;
}
