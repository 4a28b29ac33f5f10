/**
 * When a sandbox of a pool takes no more conversations.
 * Owns the one rule, which placement and a run's own count go by; apart from placement, so that a run need not load it.
 */
import type { PlacementCandidate, PooledSandbox } from './place.ts';

/** What a job says of it. */
export interface RecyclingRules {
  /** So many conversations, ever, and it takes no more; null for no such rule. */
  readonly recycleAfter: number | null;
  /** At this age it takes no more, in milliseconds; null for no such rule. */
  readonly recycleAgeMs: number | null;
}

/** The rule of a job that gives its sandboxes an end before that of the run. */
export function isRecycled(
  { createdAt }: Pick<PlacementCandidate, 'createdAt'>,
  { placedCount }: Pick<PooledSandbox, 'placedCount'>,
  { recycleAfter, recycleAgeMs }: RecyclingRules,
  now: number,
): boolean {
  if (recycleAfter !== null && placedCount >= recycleAfter) return true;
  return recycleAgeMs !== null && now - createdAt >= recycleAgeMs;
}
