/**
 * The window of a batch on the real embedded engine: one conversation that does not end takes one place, and every
 * other place is filled again as soon as it is free.
 */
import { describe, expect, it } from 'vitest';
import { activitiesOf } from '../../activities/registry.ts';
import { planOf } from '../../bench/engine/run-load.ts';
import { instantWorld } from '../../bench/instant-world.ts';
import type { ConversationId } from '../../core/ids.ts';
import { runId, userId } from '../../core/ids.ts';
import { runSpec } from '../../core/run/run-spec.ts';
import { itemsByPhase } from '../../core/run/items-by-phase.ts';
import type { RunState } from '../../core/run/state.ts';
import type { StepRecord } from '../../engine/batch.ts';
import { Engine } from '../../engine/engine.ts';
import { systemClock } from '../../engine/system-clock.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { openStore } from '../../store/open-store.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const RUN = runId('window');
const PLACES = 10;
const ITEMS = 100;

interface Played {
  /** After each step of the run: how many places were taken, and how many conversations waited. */
  readonly steps: readonly { readonly inFlight: number; readonly waiting: number }[];
  /** Conversations that had ended when the slow one did. */
  readonly endedBefore: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** From the first start to the end of all but the slow one, in milliseconds. */
  readonly othersMs: number;
}

/** One run; the first conversation goes on for as long as another one has not ended, where `hasSlow`. */
async function play({
  places,
  items,
  hasSlow,
}: {
  places: number;
  items: number;
  hasSlow: boolean;
}): Promise<Played> {
  const store = await openStore({ kind: 'sqlite', path: `${tempDir()}/parley.db` });
  const late: { notifier: Notifier | null } = { notifier: null };
  const notifier: Notifier = {
    deliver: (delivery) => late.notifier?.deliver(delivery) ?? Promise.reject(new Error('not yet')),
  };
  const world = instantWorld({ store, clock: systemClock, notifier });
  const deployment = { ...world.deployment, pollMs: 200 };
  let slow: ConversationId | null = null;
  let mayEnd = !hasSlow;
  const agent: typeof world.agent = {
    ...world.agent,
    async conversation(target, id) {
      const view = await world.agent.conversation(target, id);
      const isSlow = id === slow && !mayEnd;
      return view === null || !isSlow ? view : { ...view, executionStatus: 'RUNNING' };
    },
    openConversation(target, request) {
      slow ??= request.conversationId;
      return world.agent.openConversation(target, request);
    },
  };
  const steps: { inFlight: number; waiting: number }[] = [];
  const at = { first: 0, others: 0 };
  let endedBefore = 0;
  let over: (state: RunState) => void = () => undefined;
  const done = new Promise<RunState>((resolve) => (over = resolve));
  const onStep = ({ address, after }: StepRecord): void => {
    if (address.machine !== 'run') return;
    const state = after as RunState;
    const standing = itemsByPhase(state);
    at.first ||= performance.now();
    if (state.phase === 'running') {
      steps.push({ inFlight: standing.inFlight.length, waiting: standing.waiting.length });
      const ended = items - standing.inFlight.length - standing.waiting.length;
      if (!mayEnd && ended === items - 1) {
        at.others = performance.now();
        endedBefore = ended;
        mayEnd = true;
      }
    } else if (!hasSlow) at.others ||= performance.now();
    if (state.phase === 'finished') over(state);
  };
  const engine = new Engine({
    store: store.engine,
    activities: activitiesOf({ ...world, agent, deployment }),
    clock: systemClock,
    onStep,
  });
  late.notifier = engine;
  await engine.start();
  const plan = planOf(RUN, { items, concurrency: places });
  await store.plans.putPlan(RUN, plan);
  const spec = runSpec(plan, { runId: RUN, userId: userId('somebody') });
  await engine.deliver({ to: { machine: 'run', id: RUN }, event: { type: 'runStarted', spec } });
  const state = await done;
  await engine.stop();
  await store.close();
  const { ended } = itemsByPhase(state);
  return { steps, endedBefore, outcomes: { ...ended }, othersMs: at.others - at.first };
}

describe('a batch of a hundred on the embedded engine', () => {
  it('fills every place again beside one conversation that does not end, to the last one', async () => {
    const even = await play({ places: PLACES - 1, items: ITEMS - 1, hasSlow: false });
    expect(even.outcomes).toEqual({ succeeded: ITEMS - 1 });
    const uneven = await play({ places: PLACES, items: ITEMS, hasSlow: true });
    expect(uneven.endedBefore).toBe(ITEMS - 1);
    expect(uneven.outcomes).toEqual({ succeeded: ITEMS });
    // A batch of batches would wait here for the slowest of each: places stand empty while others wait.
    const idle = uneven.steps.filter(({ inFlight, waiting }) => waiting > 0 && inFlight < PLACES);
    expect(idle).toEqual([]);
    // For readers of the log: the speed of a loaded machine is no fact of the product.
    const ratio = uneven.othersMs / even.othersMs;
    process.stderr.write(
      `99 beside a slow one on 10 places took ${ratio.toFixed(2)} of 99 alone on 9 places\n`,
    );
  });
});
