/** A run taken apart for its store and put together again is the same run to every step. */
import { describe, expect, it } from 'vitest';
import { wholeState, type SplitState } from '../../core/machine/machine.ts';
import { runMachine } from '../../core/run/machine.ts';
import type { RunEvent } from '../../core/run/message.ts';
import { itemsByPhase } from '../../core/run/items-by-phase.ts';
import type { RunState } from '../../core/run/state.ts';
import { DAY_MS } from '../../core/time.ts';
import { randomPlan } from '../../simulator/campaign/random-plan.ts';
import { MODELS_DEFAULT } from '../../simulator/models/model-options.ts';
import { RandomStream } from '../../simulator/random.ts';
import type { SimulationStep } from '../../simulator/simulation-options.ts';
import { simulatePlan } from '../../simulator/simulate-plan.ts';
import { question } from '../simulator/questions.ts';
import { RunLife } from './run-life.ts';

interface RunStep {
  readonly at: number;
  readonly event: RunEvent;
  readonly before: RunState | null;
  readonly after: RunState;
  readonly commands: SimulationStep['commands'];
}

function stepsOf(seed: number): readonly RunStep[] {
  const steps: RunStep[] = [];
  const shape = { itemsMax: 20, settle: null, hasty: seed % 2 === 0, retry: null, tells: null, warms: false };
  const plan = randomPlan(new RandomStream(seed), `parts ${seed}`, shape);
  const onStep = (step: SimulationStep): void => {
    if (step.address.machine === 'run') steps.push(step as unknown as RunStep);
  };
  simulatePlan({ ...question(1), plan, models: MODELS_DEFAULT, seed, untilMs: 20 * DAY_MS, onStep });
  return steps;
}

function split(state: RunState | null): SplitState {
  const parts = runMachine.parts?.split(state) ?? null;
  if (parts === null) throw new Error('the run is not split');
  return parts;
}

/** As a store gives it back. */
function restored(state: RunState): RunState {
  const { head, lists } = JSON.parse(JSON.stringify(split(state))) as SplitState;
  const whole = wholeState(runMachine, { state: head, lists });
  if (whole === null) throw new Error('the run is gone');
  return whole;
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('a run in parts', () => {
  it.each([2, 3, 4, 5])('is the same state, and goes on in the same way, seed %i', (seed) => {
    const steps = stepsOf(seed);
    expect(steps.length).toBeGreaterThan(3);
    for (const { at, event, before, after, commands } of steps) {
      expect(asJson({ ...restored(after), byPhase: itemsByPhase(after) })).toEqual(asJson(after));
      expect(restored(after).byPhase).toEqual(itemsByPhase(after));
      if (before === null) continue;
      const again = restored(before);
      expect(runMachine.deadline(again)).toBe(runMachine.deadline(before));
      expect(runMachine.step(again, event, at).commands).toEqual(commands);
      expect(asJson(runMachine.step(again, event, at).state)).toEqual(asJson(after));
    }
  });

  it('keeps neither items nor sandboxes nor what follows from them in its head', () => {
    const few = new RunLife({}, [{}]).state;
    const many = new RunLife(
      {},
      Array.from({ length: 500 }, () => ({})),
    ).state;
    const headBytes = (state: RunState | null): number => JSON.stringify(split(state).head).length;
    expect(headBytes(many) - headBytes(few)).toBeLessThan(20);
    expect(split(many).lists['items']).toBe(many?.items);
    expect(split(many).lists['sandboxes']).toBe(many?.sandboxes);
  });

  it('is whole before it is born', () => {
    expect(runMachine.parts?.split(null)).toBeNull();
    expect(wholeState(runMachine, { state: null })).toBeNull();
  });

  it('cannot be joined by a machine that has no parts', () => {
    const { name, step, deadline, done } = runMachine;
    const partless = { name, step, deadline, done };
    expect(() => wholeState(partless, { state: {}, lists: {} })).toThrow(
      'Cannot join a state of the machine "run": it has no parts',
    );
  });
});
