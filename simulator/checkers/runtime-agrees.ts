/**
 * L7: what a sandbox says and what its runtime has agree.
 * Owns the one check on sandboxes that are at rest.
 */
import type { Finding, Rest } from './checker.ts';
import { sandboxesAt } from './states-at-rest.ts';

export function runtimeAgrees(rest: Rest): readonly Finding[] {
  return sandboxesAt(rest).flatMap(({ entity, state: { phase, sandboxId, generation } }) => {
    const alive = rest.facts.live.get(sandboxId)?.has(generation) === true;
    if (phase === 'running' && !alive)
      return [{ entity, problem: `it runs, and generation ${generation} is not up` }];
    return phase === 'missing' && alive ? [{ entity, problem: 'it is missing, and its runtime is up' }] : [];
  });
}
