/** A run with a pool on the real embedded engine and store: its places are used again, and in the end nothing is left. */
import { describe, expect, it } from 'vitest';
import { activitiesOf } from '../../activities/registry.ts';
import { LOCAL_USER } from '../../activities/start-conversation.ts';
import { planOf } from '../../bench/engine/run-load.ts';
import { instantWorld } from '../../bench/instant-world.ts';
import { runId } from '../../core/ids.ts';
import type { PlanPool } from '../../core/placement/place-in-pool.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { runSpec } from '../../core/run/run-spec.ts';
import { itemsByPhase } from '../../core/run/items-by-phase.ts';
import type { RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { StepRecord } from '../../engine/batch.ts';
import { Engine } from '../../engine/engine.ts';
import { systemClock } from '../../engine/system-clock.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { openStore } from '../../store/open-store.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const RUN = runId('pooled');
const POOL: PlanPool = {
  size: 3,
  maxPerSandbox: 2,
  recycleAfter: null,
  recycleAgeMs: null,
  onFull: 'wait',
  warm: false,
};

/** Plays one run to its end, with what was seen after every step. */
async function play(
  pool: Partial<PlanPool>,
  { items, cancelled = false }: { items: number; cancelled?: boolean },
) {
  const store = await openStore({ kind: 'sqlite', path: `${tempDir()}/parley.db` });
  const late: { notifier: Notifier | null } = { notifier: null };
  const notifier: Notifier = {
    deliver: (delivery) => late.notifier?.deliver(delivery) ?? Promise.reject(new Error('not yet')),
  };
  const world = instantWorld({ store, clock: systemClock, notifier });
  const seen = { inFlightMax: 0, heldBy: new Set<string>(), phases: new Map<string, string>() };
  let over: (state: RunState) => void = () => undefined;
  const done = new Promise<RunState>((resolve) => (over = resolve));
  let hasBegun: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (hasBegun = resolve));
  const onStep = ({ address, after }: StepRecord): void => {
    if (address.machine === 'sandbox') seen.phases.set(address.id, (after as SandboxState).phase);
    if (address.machine !== 'run') return;
    const state = after as RunState;
    seen.inFlightMax = Math.max(seen.inFlightMax, itemsByPhase(state).inFlight.length);
    if (state.pace?.heldBy != null) seen.heldBy.add(state.pace.heldBy);
    if (itemsByPhase(state).ended.succeeded !== undefined) hasBegun();
    if (state.phase === 'finished') over(state);
  };
  const activities = activitiesOf({ ...world, deployment: { ...world.deployment, pollMs: 50 } });
  const engine = new Engine({ store: store.engine, activities, clock: systemClock, onStep });
  late.notifier = engine;
  await engine.start();
  const plan: Plan = {
    ...planOf(RUN, { items, concurrency: 20 }),
    placement: { strategy: null, sandboxId: null, pool: { ...POOL, ...pool } },
  };
  await store.plans.putPlan(RUN, plan);
  const spec = runSpec(plan, { runId: RUN, userId: LOCAL_USER });
  const to = { machine: 'run', id: RUN } as const;
  await engine.deliver({ to, event: { type: 'runStarted', spec } });
  if (cancelled) {
    await begun;
    await engine.deliver({ to, event: { type: 'cancelRequested', requestId: 'stop' } });
  }
  const state = await done;
  await engine.settled();
  await engine.stop();
  await store.close();
  return { ...seen, ended: { ...itemsByPhase(state).ended } };
}

describe('a run with a pool on the embedded engine', () => {
  it('works off its items on the sandboxes of its pool, and says what holds the others', async () => {
    const { phases, inFlightMax, heldBy, ended } = await play({}, { items: 30 });
    expect(ended).toEqual({ succeeded: 30 });
    expect(phases.size).toBeLessThanOrEqual(3);
    expect(new Set(phases.values())).toEqual(new Set(['missing']));
    expect(inFlightMax).toBe(6);
    expect(heldBy).toEqual(new Set(['pool']));
  });

  it('makes them ahead, and takes all of them away, those that nobody used as well', async () => {
    const { phases, ended } = await play({ warm: true, size: 5, maxPerSandbox: 1 }, { items: 2 });
    expect(ended).toEqual({ succeeded: 2 });
    expect([...phases.values()]).toEqual(['missing', 'missing', 'missing', 'missing', 'missing']);
  });

  it('recycles them', async () => {
    const { phases, ended } = await play({ recycleAfter: 4, size: 2 }, { items: 16 });
    expect(ended).toEqual({ succeeded: 16 });
    expect(phases.size).toBeGreaterThanOrEqual(4);
    expect(new Set(phases.values())).toEqual(new Set(['missing']));
  });

  it('leaves nothing when it is cancelled', async () => {
    const { phases } = await play({ warm: true }, { items: 40, cancelled: true });
    expect(phases.size).toBeGreaterThanOrEqual(3);
    expect(new Set(phases.values())).toEqual(new Set(['missing']));
  });
});
