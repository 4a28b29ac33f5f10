/** The parts of the simulator by themselves: order, chance, distributions, delayed messages. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventHeap } from '../../simulator/event-heap.ts';
import { draw, fixed, lognormal, uniform } from '../../simulator/models/distribution.ts';
import { conversationIdNamed } from '../../simulator/models/derived-id.ts';
import { MODELS_STEADY } from '../../simulator/models/model-options.ts';
import { World } from '../../simulator/models/world.ts';
import { RandomStream } from '../../simulator/random.ts';
import { Simulation } from '../../simulator/simulation.ts';
import { act, START_AT } from '../../simulator/script.ts';
import { POLICY } from '../conformance/script-parts.ts';

describe('EventHeap', () => {
  it('gives entries back by time, then priority, then order of arrival', () => {
    const entry = fc.record({ at: fc.nat(5), priority: fc.nat(2) });
    fc.assert(
      fc.property(fc.array(entry), (given) => {
        const entries = given.map((one, sequence) => ({ ...one, sequence }));
        const heap = new EventHeap<(typeof entries)[number]>();
        for (const one of entries) heap.push(one);
        const popped = entries.map(() => heap.pop());
        const sorted = [...entries].sort(
          (a, b) => a.at - b.at || a.priority - b.priority || a.sequence - b.sequence,
        );
        expect(popped).toEqual(sorted);
        expect(heap.pop()).toBeUndefined();
      }),
    );
  });
});

describe('RandomStream', () => {
  it('splits by name without taking anything from its parent', () => {
    const plain = new RandomStream(42);
    const split = new RandomStream(42);
    const child = split.split('boot');
    child.next();
    expect(split.next()).toBe(plain.next());
    expect(new RandomStream(42).split('boot').next()).toBe(new RandomStream(42).split('boot').next());
    expect(new RandomStream(42).split('boot').next()).not.toBe(new RandomStream(42).split('stop').next());
    expect(new RandomStream(1).next()).not.toBe(new RandomStream(2 ** 32 + 1).next());
  });
});

describe('draw()', () => {
  const many = (distribution: Parameters<typeof draw>[0]) => {
    const stream = new RandomStream(9);
    return Array.from({ length: 4_000 }, () => draw(distribution, stream)).sort((a, b) => a - b);
  };
  const percentile = (values: readonly number[], share: number) =>
    values[Math.floor(values.length * share)] ?? 0;

  it('keeps to what was asked for, in whole numbers', () => {
    expect(new Set(many(fixed(7)))).toEqual(new Set([7]));
    const even = many(uniform(10, 20));
    expect([even[0], even.at(-1)]).toEqual([10, 20]);
    const skewed = many(lognormal(1_000, 5_000));
    expect(skewed.every(Number.isSafeInteger)).toBe(true);
    expect(percentile(skewed, 0.5) / 1_000).toBeCloseTo(1, 0);
    expect(percentile(skewed, 0.95) / 5_000).toBeCloseTo(1, 0);
    const measured = many({ kind: 'samples', values: [3, 3, 8] });
    expect(new Set(measured)).toEqual(new Set([3, 8]));
    expect(measured.filter((value) => value === 3).length / 4_000).toBeCloseTo(2 / 3, 1);
  });
});

describe('Simulation', () => {
  it('can let tells take their time: everything still comes up', () => {
    let world: World | null = null;
    const delays = new RandomStream(5).split('delays');
    const simulation = new Simulation({
      startAt: START_AT,
      world: (port) =>
        (world = new World(port, { models: MODELS_STEADY, policy: POLICY, random: new RandomStream(5) })),
      tellDelaysMs: () => [delays.next() * 8_000],
    });
    if (world === null) throw new Error('there is no world');
    act({ world, deliver: simulation.deliver.bind(simulation) }, { do: 'start', name: 'a' }, 0);
    simulation.runUntil(START_AT + 3_600_000);
    const address = { machine: 'conversation', id: conversationIdNamed('a') } as const;
    expect(simulation.stateOf(address)).toMatchObject({ executionStatus: 'FINISHED', queue: [] });
    expect(simulation.nextAt).not.toBeNull();
    expect(simulation.pending).toBeGreaterThan(0);
  });

  it('ends when one instant never does', () => {
    const simulation = new Simulation({
      startAt: START_AT,
      world: () => ({ begin: () => undefined, project: () => undefined }),
    });
    const again = (): void => simulation.later(null, simulation.now(), again);
    again();
    expect(() => simulation.runUntil(START_AT)).toThrow(/^Cannot simulate: more than/);
  });
});
