/** Scripts about a run that keeps a pool of sandboxes. Owns the list; the result must be equality, and no violation. */
import type { PlanPool } from '../../core/placement/place-in-pool.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { fixed } from '../../simulator/models/distribution.ts';
import { MODELS_STEADY } from '../../simulator/models/model-options.ts';
import type { Script } from '../../simulator/script.ts';
import { agent, failing, H, item, M, plan, S, script } from './script-parts.ts';

const POOL: PlanPool = {
  size: 2,
  maxPerSandbox: 1,
  recycleAfter: null,
  recycleAgeMs: null,
  onFull: 'wait',
  warm: false,
};

export function pooledPlan(count: number, pool: Partial<PlanPool> = {}, change: Partial<Plan> = {}): Plan {
  return plan(count, {
    placement: { strategy: null, sandboxId: null, pool: { ...POOL, ...pool } },
    admission: { concurrency: 4 },
    ...change,
  });
}

const run = (...parts: Parameters<typeof pooledPlan>) => ({ do: 'run', plan: pooledPlan(...parts) }) as const;
const KEPT = { cleanup: { sandbox: 'keep', conversation: 'keep', onCollectFailure: 'keep' } } as const;
const ONE_BY_ONE = { admission: { concurrency: 1 } } as const;
const settling = (settleMs: number): Pick<Plan, 'reconcile'> => ({
  reconcile: {
    rows: { from: 'proxy' },
    settleMs,
    windowBeforeMs: 0,
    windowAfterMs: 0,
    ambiguous: 'keep',
    unmatchedNanoUsdMax: null,
  },
});
/** A store that takes so long that a user can act in between. */
const SLOW = { ...MODELS_STEADY, agentCall: fixed(10 * M) };
const cancelledWhileWarming = (name: string, change: Partial<Plan>): Script =>
  script(
    `a pool that is warmed while its run is cancelled, ${name}`,
    [
      [0, run(2, { warm: true }, change)],
      [M, { do: 'cancelRun' }],
    ],
    { models: SLOW, untilMs: 12 * H },
  );
const ERRORS = agent({ outcomes: { FINISHED: 0, ERROR: 1, STUCK: 0 } });
const RETRY = [{ on: ['agent_error'] as const, attempts: 1, initialMs: 0, factor: 1, maxMs: 0 }];

export const POOL_SCRIPTS: readonly Script[] = [
  script('a pool whose sandboxes are used again', [[0, run(6)]]),
  script('a pool that is warmed', [[0, run(5, { warm: true, maxPerSandbox: 2 })]]),
  script('a pool that is warmed beyond the slots there are', [[0, run(3, { warm: true, size: 4 })]], {
    policy: { capacity: { installationMax: 2, userMax: 2, conversationsPerSandboxMax: 20 } },
  }),
  script('a pool that cannot be warmed', [[0, run(3, { warm: true })]], {
    models: failing({ warmPool: { first: 1 } }),
  }),
  script('a pool with affinity', [
    [
      0,
      run(
        6,
        { maxPerSandbox: 2, size: 3 },
        { items: [0, 1, 2, 3, 4, 5].map((index) => item(index, { affinity: index % 2 === 0 ? 'a' : 'b' })) },
      ),
    ],
  ]),
  script('a pool that is recycled', [[0, run(6, { recycleAfter: 2, maxPerSandbox: 2 })]]),
  script('a pool that is recycled by age', [[0, run(6, { recycleAgeMs: 20 * M })]]),
  script('a pool that spills', [[0, run(5, { onFull: 'spill', size: 1 })]]),
  script('a pool that spills, and is recycled', [
    [0, run(4, { onFull: 'spill', size: 1, recycleAfter: 1 }, { admission: { concurrency: 2 } })],
  ]),
  script('a pool that fails whom it has no place for', [[0, run(4, { onFull: 'fail', size: 1 })]]),
  script('a pool of tries that failed', [[0, run(3, {}, { retry: RETRY })]], { models: ERRORS }),
  script('a pool that is kept', [[0, run(3, { warm: true }, KEPT)]]),
  script('a pool that is paused in the end', [
    [0, run(3, { warm: true }, { cleanup: { ...KEPT.cleanup, sandbox: 'pause' } })],
  ]),
  script('a pool whose run is cancelled', [
    [0, run(5, { warm: true, size: 3 })],
    [10 * M, { do: 'cancelRun' }],
  ]),
  script(
    'a pool whose run is resumed',
    [
      [0, run(3, { warm: true })],
      [3 * H, { do: 'resumeRun', classes: ['agent_error'] }],
    ],
    { models: ERRORS },
  ),
  script(
    'a pool whose drained run is resumed',
    [
      [0, run(5, { warm: true })],
      [2 * M, { do: 'drainRun' }],
      [3 * H, { do: 'resumeRun', classes: [] }],
    ],
    { models: agent({ work: fixed(H) }) },
  ),
  script(
    'a pool that is kept, whose run is resumed',
    [
      [0, run(3, { warm: true }, KEPT)],
      [3 * H, { do: 'resumeRun', classes: ['agent_error'] }],
    ],
    { models: ERRORS },
  ),
  cancelledWhileWarming('with sandboxes to remove', {}),
  cancelledWhileWarming('nothing to remove', { ...KEPT, ...settling(10 * M) }),
  cancelledWhileWarming('no settling', { ...KEPT, ...settling(0) }),
  cancelledWhileWarming('no reconciling', KEPT),
  script('a pool that idles in between', [[0, run(2, { warm: true, size: 3 })]], {
    models: agent({ work: fixed(H), quiet: { share: 1, length: fixed(30 * M), leased: 0 } }),
  }),
  // One at a time: nothing happens in the same millisecond as something else.
  script('a pool of one, warmed', [[0, run(2, { warm: true, size: 1 }, ONE_BY_ONE)]]),
  script('a pool of one for one conversation, warmed', [[0, run(1, { warm: true, size: 1 })]]),
  script('a pool of one, recycled', [[0, run(3, { recycleAfter: 2, size: 1 }, ONE_BY_ONE)]]),
  script('a pool of one, warmed, whose run is cancelled', [
    [0, run(2, { warm: true, size: 1 }, ONE_BY_ONE)],
    [10 * M, { do: 'cancelRun' }],
  ]),
  script('a place that is late', [[0, run(3, { size: 1 })]], {
    models: { ...MODELS_STEADY, agentCall: fixed(30 * S) },
  }),
];
