/**
 * L4: nothing is alive, and no slot is held, that no sandbox answers for.
 * Owns the one check; what is on its way may hold its slot before its machine has begun.
 */
import type { Finding, Rest } from './checker.ts';
import { sandboxesAt } from './states-at-rest.ts';

/** Phases that say themselves that nothing is up. */
const DOWN = [
  'released',
  'archiving',
  'destroying',
  'errorArchiving',
  'error',
  'errorDestroying',
  'errorEmpty',
  'missing',
];

export function noOrphans(rest: Rest): readonly Finding[] {
  const { facts } = rest;
  const found: Finding[] = [];
  const down = new Set(
    sandboxesAt(rest)
      .filter(({ state }) => DOWN.includes(state.phase))
      .map(({ state }) => state.sandboxId),
  );
  const known = new Set(sandboxesAt(rest).map(({ state }) => state.sandboxId));
  for (const [id, generations] of facts.live) {
    if (down.has(id) || !known.has(id))
      found.push({ entity: `sandbox/${id}`, problem: 'a runtime object is alive for nobody' });
    if (generations.size > 1)
      found.push({
        entity: `sandbox/${id}`,
        problem: `generations ${[...generations].join(', ')} are alive`,
      });
  }
  for (const id of facts.foreign())
    found.push({ entity: `sandbox/${id}`, problem: 'an object of nobody stands beside it' });
  for (const id of facts.slots.keys())
    if (down.has(id) || !known.has(id))
      found.push({ entity: `sandbox/${id}`, problem: 'a slot is held for nobody' });
  return found;
}
