/** Planted bugs in the pools of runs: size, places, recycling, whose they are. Owns data only. */
import type { Mutant } from './mutant.ts';

const PLACE_IN_POOL = 'core/placement/place-in-pool.ts';

export const OF_POOLS: readonly Mutant[] = [
  {
    name: 'pool-larger-than-its-size',
    file: PLACE_IN_POOL,
    find: 'const mayGrow = living < pool.size;',
    replace: 'const mayGrow = living <= pool.size;',
    mistake: 'A pool that has its size already gets one sandbox more.',
    source: 'A pool that is asked whether it is over its size, and not whether it is at it.',
    caughtBy: ['R5'],
  },
  {
    name: 'places-of-a-pool-off-by-one',
    file: PLACE_IN_POOL,
    find: 'if (pooled.heldCount >= Math.min(pool.maxPerSandbox, question.conversationsPerSandboxMax))',
    replace: 'if (pooled.heldCount > Math.min(pool.maxPerSandbox, question.conversationsPerSandboxMax))',
    mistake: 'A sandbox of a pool takes one conversation more than it has places.',
    source: 'A limit that is compared with the count before the newcomer.',
    caughtBy: ['R5'],
  },
  {
    name: 'recycled-in-use-not-counted',
    file: PLACE_IN_POOL,
    find: 'return pooled.heldCount > 0 || !isRecycled(candidate, pooled, pool, now);',
    replace: 'return !isRecycled(candidate, pooled, pool, now);',
    mistake: 'A recycled sandbox makes room for another while somebody still works in it.',
    source: 'A pool that counts what it hands out, and forgets what was not given back.',
    caughtBy: ['R5'],
  },
  {
    name: 'pool-open-to-strangers',
    file: 'core/placement/place.ts',
    find: "  if (candidate.pool !== undefined) return 'of_a_pool';\n",
    replace: '',
    mistake: 'A conversation outside the run is placed in a sandbox of its pool.',
    source: 'A node that was reserved for one team, and a scheduler that did not look.',
    caughtBy: ['R5'],
  },
  {
    name: 'full-pool-always-spills',
    file: PLACE_IN_POOL,
    find: "pool.onFull === 'spill' ? null : fullRefusal(pool, living)",
    replace: "pool.onFull === 'fail' ? fullRefusal(pool, living) : null",
    mistake: 'A run whose job waits for its pool is placed outside it when the pool is full.',
    source: 'A default branch that takes the case that was added later.',
    caughtBy: ['R5'],
  },
];
