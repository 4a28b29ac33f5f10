/** The world of the simulator is the product's: what counts as activity, and who spends nothing more. */
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { ScenarioAction } from '../../dsl/scenario/scenario.ts';
import { conversationIdNamed } from '../../simulator/models/derived-id.ts';
import { fixed } from '../../simulator/models/distribution.ts';
import { MODELS_STEADY } from '../../simulator/models/model-options.ts';
import { World } from '../../simulator/models/world.ts';
import { RandomStream } from '../../simulator/random.ts';
import { act, START_AT, type Action } from '../../simulator/script.ts';
import { Simulation } from '../../simulator/simulation.ts';
import { plan, POLICY } from '../conformance/script-parts.ts';
import { playing, SPAN } from './scenario-parts.ts';

const IDLE_MS = 20 * MINUTE_MS;
const policy = { ...POLICY, limits: { ...POLICY.limits, idleTimeMs: IDLE_MS } };

/** One world, and what people do in it by the minute. */
function worldWith(actions: readonly (readonly [number, Action])[]) {
  const late: { world: World | null } = { world: null };
  const pausedAt: number[] = [];
  const simulation = new Simulation({
    startAt: START_AT,
    world: (port) =>
      (late.world = new World(port, { models: MODELS_STEADY, policy, random: new RandomStream(5) })),
    onStep: ({ at, event }) => {
      if (event.type === 'idleReached') pausedAt.push((at - START_AT) / MINUTE_MS);
    },
  });
  const { world } = late;
  if (world === null) throw new Error('there is no world');
  const stage = { world, deliver: simulation.deliver.bind(simulation) };
  for (const [number, [minute, action]] of actions.entries())
    simulation.script(START_AT + minute * MINUTE_MS, () => act(stage, action, number));
  const spentAt = (name: string, minute: number): number => {
    simulation.runUntil(START_AT + minute * MINUTE_MS);
    return world.spentBy(conversationIdNamed(name), simulation.now());
  };
  return { simulation, world, pausedAt, spentAt };
}

const start = { do: 'start', name: 'a' } as const;
const read = { do: 'access', name: 'a' } as const;

describe('an access', () => {
  /** The agent rests after 18 minutes and a few seconds. */
  it('is activity of a sandbox that is up', () => {
    const quiet = worldWith([[0, start]]);
    quiet.simulation.runUntil(START_AT + 100 * MINUTE_MS);
    expect(quiet.pausedAt.map(Math.floor)).toEqual([38]);
    const polled = worldWith([
      [0, start],
      [30, read],
    ]);
    polled.simulation.runUntil(START_AT + 100 * MINUTE_MS);
    expect(polled.pausedAt).toEqual([50]);
  });

  it('brings a released one back, and counts from then on', () => {
    const { simulation, pausedAt } = worldWith([
      [0, start],
      [60, read],
    ]);
    simulation.runUntil(START_AT + 200 * MINUTE_MS);
    expect(pausedAt.map(Math.floor)).toEqual([38, 80]);
  });

  it('is none while its conversation is starting: the product answers 409', () => {
    const { simulation, world } = worldWith([[0, start]]);
    simulation.runUntil(START_AT + SECOND_MS);
    expect(world.placement.openTo(conversationIdNamed('a'))).toBeNull();
    simulation.runUntil(START_AT + MINUTE_MS);
    expect(world.placement.openTo(conversationIdNamed('a'))).not.toBeNull();
  });
});

describe('spend', () => {
  it.each(['crashed', 'gone'] as const)('ends when the sandbox is %s, whoever has seen it', (loss) => {
    const { spentAt } = worldWith([
      [0, start],
      [6, { do: 'lose', of: 'a', loss }],
    ]);
    const spent = spentAt('a', 6);
    expect(spent).toBeGreaterThan(0);
    expect([spentAt('a', 6.05), spentAt('a', 60)]).toEqual([spent, spent]);
  });

  it('goes on where a runtime just cannot be asked', () => {
    const { spentAt } = worldWith([
      [0, start],
      [6, { do: 'lose', of: 'a', loss: 'unknown' }],
    ]);
    const before = spentAt('a', 6);
    expect(spentAt('a', 12)).toBeGreaterThan(before);
  });

  it('ends when the conversation is removed, also where others work on beside it', () => {
    const { spentAt } = worldWith([
      [0, start],
      [2, { do: 'start', name: 'b', in: 'a' }],
      [6, { do: 'remove', name: 'a' }],
    ]);
    const [spent, ofOther] = [spentAt('a', 7), spentAt('b', 7)];
    expect(spent).toBeGreaterThan(0);
    expect(spentAt('a', 15)).toBe(spent);
    expect(spentAt('b', 16)).toBeGreaterThan(ofOther);
  });
});

describe('curves', () => {
  const at = (minute: number, action: ScenarioAction) => ({ atMs: minute * MINUTE_MS, action, span: SPAN });
  const first = { key: 'item-0' } as const;

  it.each<[string, readonly ReturnType<typeof at>[]]>([
    ['nothing happens', []],
    ['a sandbox crashes', [at(6, { do: 'crash', sandbox: first })]],
    ['a sandbox is lost', [at(6, { do: 'lose', sandbox: first })]],
    ['a conversation is removed', [at(6, { do: 'remove', conversation: first })]],
    ['the run is cancelled', [at(6, { do: 'cancel_run' })]],
  ])('end with the cost and at the end of the summary, when %s', (_name, events) => {
    const conversations = { kind: 'gaps', gap: fixed(5 * MINUTE_MS), count: 3 } as const;
    const { plan: answer } = playing(
      {
        events,
        plan: plan(3),
        arrivals: { items: null, conversations },
        model: { default: { gaps: [] }, rules: [] },
      },
      { curves: true },
    );
    const last = answer.curves?.costNanoUsd.at(-1);
    expect(last?.value).toBe(answer.costNanoUsd);
    expect(answer.makespanMs).not.toBeNull();
    expect(last?.at).toBeLessThanOrEqual(1_700_000_000_000 + (answer.makespanMs ?? 0));
    expect(answer.curves?.activities.at(-1)).toMatchObject({ ended: 3, working: 0 });
  });
});
