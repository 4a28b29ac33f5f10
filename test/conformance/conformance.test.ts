/** The simulator adds no rule: it takes every entity through the same steps, at the same instants, as the embedded engine. */
import { describe, expect, it } from 'vitest';
import { expectEqual } from './expect-equal.ts';
import { randomScript } from './random-script.ts';
import { POOL_SCRIPTS } from './scripts-of-pools.ts';
import { SANDBOX_SCRIPTS } from './scripts-of-sandboxes.ts';
import { SHARD_SCRIPTS } from './scripts-of-shards.ts';
import { WORK_SCRIPTS } from './scripts-of-work.ts';

const SCRIPTS = [...SANDBOX_SCRIPTS, ...WORK_SCRIPTS, ...POOL_SCRIPTS, ...SHARD_SCRIPTS];
const RANDOM_SCRIPTS = 200;
const PER_TEST = 20;

describe('simulator and embedded engine, each step settled', () => {
  it.each(SCRIPTS)('$name', async (script) => {
    expect(await expectEqual(script)).toBeGreaterThan(1);
  });

  it.each(Array.from({ length: RANDOM_SCRIPTS / PER_TEST }, (_, group) => group))(
    'random scripts, group %i',
    async (group) => {
      for (let seed = group * PER_TEST; seed < (group + 1) * PER_TEST; seed += 1)
        await expectEqual(randomScript(seed));
    },
    600_000,
  );
});
