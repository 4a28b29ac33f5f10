/** The stage without faults plays exactly what a plain simulation plays, and the same faults give the same run again. */
import { describe, expect, it } from 'vitest';
import { FAULT_NAMES } from '../../simulator/faults/catalogue.ts';
import { faultKey, NO_FAULTS, type FaultSource } from '../../simulator/faults/injector.ts';
import { FaultyStage } from '../../simulator/faults/faulty-stage.ts';
import { World } from '../../simulator/models/world.ts';
import { RandomStream } from '../../simulator/random.ts';
import { act, START_AT, type Script, type Stage } from '../../simulator/script.ts';
import { Simulation } from '../../simulator/simulation.ts';
import { Trace } from '../../simulator/trace.ts';
import { randomScript } from '../conformance/random-script.ts';
import { SANDBOX_SCRIPTS } from '../conformance/scripts-of-sandboxes.ts';
import { WORK_SCRIPTS } from '../conformance/scripts-of-work.ts';

function playPlain({ models, policy, seed, steps, untilMs }: Script): string {
  const trace = new Trace(null);
  const late: { world: World | null } = { world: null };
  const simulation = new Simulation({
    startAt: START_AT,
    world: (port) => (late.world = new World(port, { models, policy, random: new RandomStream(seed) })),
    onStep: (step) => trace.add(step),
  });
  const stage = { world: late.world, deliver: simulation.deliver.bind(simulation) } as Stage;
  for (const [number, { atMs, action }] of steps.entries())
    simulation.script(START_AT + atMs, () => act(stage, action, number));
  simulation.runUntil(START_AT + untilMs);
  return `${trace.lines} ${trace.hash}`;
}

function playOnStage({ models, policy, seed, steps, untilMs }: Script, faults: FaultSource) {
  const trace = new Trace(null);
  const stage = new FaultyStage({
    startAt: START_AT,
    models,
    policy,
    seed,
    faults,
    onStep: (step) => trace.add(step),
  });
  for (const [number, { atMs, action }] of steps.entries())
    stage.simulation.script(START_AT + atMs, () => act(stage, action, number));
  stage.advanceTo(START_AT + untilMs);
  return { text: `${trace.lines} ${trace.hash}`, stage };
}

const SCRIPTS = [
  ...SANDBOX_SCRIPTS,
  ...WORK_SCRIPTS,
  ...Array.from({ length: 20 }, (_, seed) => randomScript(seed)),
];

describe('FaultyStage', () => {
  it.each(SCRIPTS)('plays $name as a plain simulation does', (script) => {
    expect(playOnStage(script, NO_FAULTS).text).toBe(playPlain(script));
  });

  it.each([3, 9, 15, 28])('plays the same faults again, by chance and by schedule: seed %i', (seed) => {
    const mix = Object.fromEntries(FAULT_NAMES.map((fault) => [fault, 0.03]));
    const first = playOnStage(randomScript(seed), { kind: 'mix', mix });
    expect(first.stage.injector.injected.length).toBeGreaterThan(0);
    expect(playOnStage(randomScript(seed), { kind: 'mix', mix }).text).toBe(first.text);
    const keys = new Set(first.stage.injector.injected.map(faultKey));
    expect(playOnStage(randomScript(seed), { kind: 'schedule', keys }).text).toBe(first.text);
  });
});
