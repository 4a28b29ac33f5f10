/**
 * A placement decision as one sentence for people (D16).
 * Owns the wording, which API, console and command line share.
 */
import type { PlacementDecision } from './place.ts';

/** Such as `GROUP_BY_NEWEST: a new sandbox; of 3 seen, 2 full, 1 draining`. */
export function placementText({ rule, chosen, seen, pool, bootedAt }: PlacementDecision): string {
  const taken =
    chosen === null ? `a ${bootedAt === undefined ? 'new' : 'warm'} sandbox` : `sandbox ${chosen}`;
  const ofPool =
    pool === undefined
      ? ''
      : pool.spilled
        ? `, because all ${pool.living} of the pool are full`
        : `, with ${pool.living} in the pool before`;
  return `${rule}: ${taken}${ofPool}; ${seenText(seen)}`;
}

function seenText(seen: PlacementDecision['seen']): string {
  if (seen.length === 0) return 'no other was seen';
  const counts = new Map<string, number>();
  for (const { why } of seen) counts.set(why, (counts.get(why) ?? 0) + 1);
  const parts = [...counts].map(([why, count]) => `${count} ${why.replaceAll('_', ' ')}`);
  return `of ${seen.length} seen, ${parts.join(', ')}`;
}
