/** A plan with a pool on the virtual clock: how many sandboxes there are, who shares them, and when all of it is gone. */
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../core/time.ts';
import { fixed, uniform } from '../../simulator/models/distribution.ts';
import { MODELS_DEFAULT, MODELS_STEADY } from '../../simulator/models/model-options.ts';
import { simulatePlan } from '../../simulator/simulate-plan.ts';
import type { Script } from '../../simulator/script.ts';
import { playSimulated } from '../conformance/play-simulated.ts';
import { agent, item, POLICY } from '../conformance/script-parts.ts';
import { pooledPlan, POOL_SCRIPTS } from '../conformance/scripts-of-pools.ts';
import { question } from './questions.ts';
import { seenAt } from './scenario-parts.ts';

const named = (name: string): Script => {
  const found = POOL_SCRIPTS.find((script) => script.name === name);
  if (found === undefined) throw new Error(`Cannot play "${name}": there is no such script`);
  return found;
};
const asked = (...parts: Parameters<typeof pooledPlan>) =>
  simulatePlan({ ...question(1), plan: pooledPlan(...parts), checks: true });

/** Of a script: its sandboxes, and the items of its run as they ended. */
function played(name: string) {
  const { traces } = playSimulated(named(name));
  const entities = [...traces.byEntity.keys()];
  return {
    sandboxes: entities.filter((entity) => entity.startsWith('sandbox/')),
    phases: entities
      .filter((entity) => entity.startsWith('sandbox/'))
      .map((entity) => traces.byEntity.get(entity)?.at(-1)?.view['phase']),
  };
}

describe('a simulated pool', () => {
  it('works off any number of items on no more sandboxes than it has', () => {
    const answer = asked(12, {}, { admission: { concurrency: 10 } });
    expect(answer).toMatchObject({ phase: 'finished', sandboxesPeak: 2, violations: [] });
    expect(answer.conversations.every(({ outcome }) => outcome === 'succeeded')).toBe(true);
    expect(played('a pool whose sandboxes are used again').sandboxes).toHaveLength(2);
  });

  it('takes as long as its places say', () => {
    const models = agent({ work: fixed(10 * MINUTE_MS) });
    const spanOf = (pool: Parameters<typeof pooledPlan>[1]) =>
      simulatePlan({ ...question(1), plan: pooledPlan(4, pool), models }).makespanMs ?? 0;
    const [narrow, wide] = [spanOf({ size: 1 }), spanOf({ size: 1, maxPerSandbox: 4 })];
    expect(narrow).toBeGreaterThan(40 * MINUTE_MS);
    expect(wide).toBeLessThan(20 * MINUTE_MS);
  });

  it.each([
    ['spill', 4, 'succeeded'],
    ['fail', 1, 'failed'],
  ] as const)('with on_full %s', (onFull, sandboxesPeak, outcome) => {
    const answer = asked(4, { size: 1, onFull });
    expect(answer).toMatchObject({ sandboxesPeak, violations: [] });
    expect(answer.conversations.map((one) => one.outcome)).toEqual([
      'succeeded',
      ...Array.from({ length: 3 }, () => outcome),
    ]);
    if (onFull === 'fail') expect(answer.conversations[3]?.detail).toMatch(/^pool_full: /);
  });

  it('has a new sandbox for each that was recycled, and never more at once', () => {
    expect(played('a pool that is recycled').sandboxes).toHaveLength(3);
    const answer = asked(9, { recycleAfter: 1 });
    expect(answer).toMatchObject({ phase: 'finished', violations: [] });
    expect(answer.sandboxesPeak).toBeLessThanOrEqual(4);
  });

  it('keeps a kind together', () => {
    const items = ['a', 'b', 'a', 'b'].map((affinity, index) => item(index, { affinity }));
    const plan = pooledPlan(4, { size: 3, maxPerSandbox: 2 }, { items });
    const script: Script = {
      ...named('a pool with affinity'),
      steps: [{ atMs: 0, action: { do: 'run', plan } }],
    };
    expect(
      [...playSimulated(script).traces.byEntity.keys()].filter((one) => one.startsWith('sandbox/')),
    ).toHaveLength(2);
  });

  it.each([
    ['a pool that is warmed', 2, 'missing'],
    ['a pool that is kept', 2, 'missing'],
    ['a pool that is warmed beyond the slots there are', 2, 'missing'],
    ['a pool whose run is cancelled', 3, 'missing'],
    ['a pool that is warmed while its run is cancelled, with sandboxes to remove', 2, 'missing'],
    ['a pool whose run is resumed', 4, 'missing'],
    ['a pool whose drained run is resumed', 4, 'missing'],
    ['a pool that is kept, whose run is resumed', 2, 'missing'],
    ['a pool that spills, and is recycled', 3, 'missing'],
  ] as const)('%s: %i sandboxes, in the end %s', (name, count, phase) => {
    const { sandboxes, phases } = played(name);
    expect(sandboxes).toHaveLength(count);
    expect(new Set(phases)).toEqual(new Set([phase]));
  });

  it.each([1, 2, 3, 4, 5, 6])('breaks no invariant in a world that fails, seed %i', (seed) => {
    const pool = {
      size: 3,
      maxPerSandbox: 1 + (seed % 3),
      recycleAfter: seed % 2 === 0 ? 3 : null,
      recycleAgeMs: seed % 3 === 0 ? 30 * MINUTE_MS : null,
      warm: seed > 3,
    };
    const retry = [
      { on: ['infra', 'stuck', 'rate_limited'] as const, attempts: 2, initialMs: 0, factor: 2, maxMs: 0 },
    ];
    const items = Array.from({ length: 20 }, (_, index) => item(index, { affinity: `a${index % 4}` }));
    const answer = simulatePlan({
      ...question(1),
      plan: pooledPlan(20, pool, { retry, items }),
      policy: { ...POLICY, onFull: 'queue' as const, capacity: { ...POLICY.capacity, userMax: 4 } },
      models: {
        ...MODELS_DEFAULT,
        failures: { ...MODELS_DEFAULT.failures, createSandbox: { share: 0.1 }, stopSandbox: { share: 0.1 } },
        agent: { ...MODELS_STEADY.agent, work: uniform(MINUTE_MS, 40 * MINUTE_MS) },
      },
      seed,
      checks: true,
    });
    expect(answer.violations).toEqual([]);
    expect(answer.phase).toBe('finished');
    expect(answer.sandboxesPeak).toBeLessThanOrEqual(4);
  });
});

describe('what expectations see of a pool', () => {
  it('is how many of its sandboxes are up, how many are used, and its size', () => {
    const warmed = { plan: pooledPlan(5, { size: 4, warm: true }, { admission: { concurrency: 2 } }) };
    expect(seenAt(10 * MINUTE_MS, warmed).pool).toEqual({ ready: 4n, in_use: 2n, size: 4n });
    expect(seenAt(10 * MINUTE_MS).pool).toEqual({ ready: 0n, in_use: 0n, size: 0n });
  });
});
