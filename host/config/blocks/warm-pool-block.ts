/**
 * The block `warm_pool` as plain data.
 * Owns what makes a sandbox of the pool of no use to a changed deployment, and that the pool leaves room for others.
 */
import { createHash } from 'node:crypto';
import { SECOND_MS } from '../../../core/time.ts';
import type { WarmPoolTarget } from '../../../core/placement/warm-pool.ts';
import { errorAt, type ConfigParts } from '../config-parts.ts';
import { numberOf, type EffectiveValue } from '../effective-values.ts';
import type { Problem } from '../problem.ts';

/** What a sandbox is booted with; what else may be configured is asked when it is used. */
const BOOTED_WITH = /^(runtime\.|agent\.(kind|python)$)/;

export function warmPoolOf(
  values: readonly EffectiveValue[],
  egressAllow: readonly string[],
): WarmPoolTarget {
  const made = values.filter(({ path }) => BOOTED_WITH.test(path)).map(({ path, value }) => [path, value]);
  const spec = createHash('sha256')
    .update(JSON.stringify([made, egressAllow]))
    .digest('hex');
  const maxAgeMs = numberOf(values, 'warm_pool.max_age') * SECOND_MS;
  return { size: numberOf(values, 'warm_pool.size'), maxAgeMs, spec };
}

/** Sandboxes of the pool hold slots of the installation (D17): a pool that takes all of them leaves no room for a resume. */
export function warmPoolProblems(parts: ConfigParts, values: readonly EffectiveValue[]): readonly Problem[] {
  const size = numberOf(values, 'warm_pool.size');
  const sandboxes = numberOf(values, 'capacity.sandboxes');
  if (size < sandboxes) return [];
  const problem = errorAt(parts, ['warm_pool', 'size'], {
    message: `Cannot keep ${size} sandboxes warm: capacity.sandboxes is ${sandboxes}`,
    remedy: 'lower warm_pool.size, or raise capacity.sandboxes',
  });
  return [problem];
}
