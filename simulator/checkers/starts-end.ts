/**
 * L1: every start and resume, and every other transition, has an end ahead of it (D13).
 * Owns the one check on the deadlines of phases.
 */
import type { SandboxPhase } from '../../core/sandbox/state.ts';
import { PUNCTUAL, type Finding, type Rest } from './checker.ts';
import { sandboxesAt } from './states-at-rest.ts';

/** Phases that wait for an answer: each has a deadline of its own. */
const WAITING: ReadonlySet<SandboxPhase> = new Set<SandboxPhase>([
  'starting',
  'reserving',
  'resuming',
  'pausing',
  'stopping',
  'archiving',
  'destroying',
  'errorStopping',
  'errorArchiving',
  'errorDestroying',
]);

export function startsEnd(rest: Rest): readonly Finding[] {
  const { settleMs } = rest.timeliness ?? PUNCTUAL;
  return sandboxesAt(rest).flatMap(({ entity, state: { phase, phaseDeadline } }) => {
    if (!WAITING.has(phase)) return [];
    if (phaseDeadline === null) return [{ entity, problem: `it is ${phase}, and nothing ends that` }];
    return rest.now > phaseDeadline + settleMs
      ? [{ entity, problem: `it is ${phase} after the deadline of that` }]
      : [];
  });
}
