/** Where the items of a run stand is kept step by step, and always equals a count of all of them. */
import { describe, expect, it } from 'vitest';
import { runMachine } from '../../core/run/machine.ts';
import type { RunEvent } from '../../core/run/message.ts';
import { itemsByPhase, allItemsByPhase } from '../../core/run/items-by-phase.ts';
import type { RunState } from '../../core/run/state.ts';
import { DAY_MS } from '../../core/time.ts';
import { randomPlan } from '../../simulator/campaign/random-plan.ts';
import { MODELS_DEFAULT } from '../../simulator/models/model-options.ts';
import { RandomStream } from '../../simulator/random.ts';
import type { SimulationStep } from '../../simulator/simulation-options.ts';
import { simulatePlan } from '../../simulator/simulate-plan.ts';
import { question } from '../simulator/questions.ts';

const SEEDS = Array.from({ length: 8 }, (_, index) => index + 1);

interface RunStep {
  readonly at: number;
  readonly event: RunEvent;
  readonly before: RunState | null;
  readonly after: RunState;
  readonly commands: SimulationStep['commands'];
}

function stepsOf(seed: number): readonly RunStep[] {
  const steps: RunStep[] = [];
  const plan = randomPlan(new RandomStream(seed), `standing ${seed}`, {
    itemsMax: 30,
    settle: null,
    tells: null,
    warms: false,
    hasty: seed % 2 === 0,
    retry: null,
  });
  const onStep = (step: SimulationStep): void => {
    if (step.address.machine === 'run') steps.push(step as unknown as RunStep);
  };
  simulatePlan({ ...question(1), plan, models: MODELS_DEFAULT, seed, untilMs: 20 * DAY_MS, onStep });
  return steps;
}

function withoutStanding(state: RunState): RunState {
  const { byPhase: standing, ...rest } = state;
  expect(standing).toBeDefined();
  return rest;
}

describe('where the items of a run stand', () => {
  it.each(SEEDS)('is what a look at all items says, after every step of seed %i', (seed) => {
    const steps = stepsOf(seed);
    expect(steps.length).toBeGreaterThan(3);
    for (const { after } of steps) expect(after.byPhase).toEqual(allItemsByPhase(after.items));
  });

  it.each(SEEDS)('is not needed: a stored state without it goes on in the same way, seed %i', (seed) => {
    for (const { at, event, before, after, commands } of stepsOf(seed)) {
      if (before === null) continue;
      const old = JSON.parse(JSON.stringify(withoutStanding(before))) as RunState;
      expect(runMachine.deadline(old)).toBe(runMachine.deadline(before));
      const { state, commands: again } = runMachine.step(old, event, at);
      expect(again).toEqual(commands);
      expect(state === null ? null : itemsByPhase(state)).toEqual(after.byPhase);
    }
  });

  it('has the waiting by priority, then in plan order', () => {
    const items = [0, 5, 5, 9].map((priority) => ({
      priority,
      phase: 'waiting',
    })) as unknown as RunState['items'];
    expect(allItemsByPhase(items)).toEqual({ waiting: [3, 1, 2, 0], inFlight: [], ended: {} });
  });
});
