/**
 * L1: every start and resume has an end ahead of it.
 * Owns the one check on the deadlines of phases.
 */
import type { Finding, Rest } from './checker.ts';
import { sandboxesAt } from './states-at-rest.ts';

const COMING_UP = ['starting', 'reserving', 'resuming'];

export function startsEnd(rest: Rest): readonly Finding[] {
  return sandboxesAt(rest).flatMap(({ entity, state: { phase, phaseDeadline } }) => {
    if (!COMING_UP.includes(phase)) return [];
    if (phaseDeadline === null) return [{ entity, problem: `it is ${phase}, and nothing ends that` }];
    return rest.now > phaseDeadline ? [{ entity, problem: `it is ${phase} after the deadline of that` }] : [];
  });
}
