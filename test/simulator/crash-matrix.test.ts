/**
 * A batch whose worker dies at every point of it, one point a play: the same final set as undisturbed.
 * Points are the commands of the undisturbed play, each with its three moments: before its answer is committed, after the
 * commit that ordered it and before it is dispatched, and while it is carried out.
 */
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../core/plan/plan.ts';
import { ACTIVITY_COMMAND_TYPES } from '../../core/machine/resource.ts';
import type { RunState } from '../../core/run/state.ts';
import { NO_FAULTS } from '../../simulator/faults/injector.ts';
import {
  MODELS_STEADY,
  type AgentBehaviour,
  type ModelOptions,
} from '../../simulator/models/model-options.ts';
import { H, item, M, plan, told, type TimedStep } from '../conformance/script-parts.ts';
import { play, type Parts, type Play } from './stage-plays.ts';

const TYPES: ReadonlySet<string> = new Set(ACTIVITY_COMMAND_TYPES);
const MOMENTS = {
  'before its answer is committed': (id: string) => `worker_crash_before_commit@answer/${id}/1`,
  'before it is handed out': (id: string) => `worker_crash_after_commit@${id}/1`,
  'while it is carried out': (id: string) => `worker_crash_in_activity@${id}/1/1`,
} as const;

/** A check, a failure that is tried again, a stage that waits for the others, late rows, and two receivers. */
const BATCH: Plan = plan(3, {
  items: [
    item(0, { entry: 'first', verify: { command: 'true', timeoutMs: M } }),
    item(1, { entry: 'first' }),
    item(2, { entry: 'second', needs: [{ entry: 'first', outcome: 'ended', each: false }] }),
  ],
  admission: { concurrency: 2 },
  retry: [{ on: ['agent_error'], attempts: 1, initialMs: M, factor: 1, maxMs: M }],
  reconcile: {
    rows: { from: 'proxy' },
    settleMs: M,
    windowBeforeMs: 0,
    windowAfterMs: 0,
    ambiguous: 'keep',
    unmatchedNanoUsdMax: null,
  },
  // Longer than any worker is down.
  finally: [told(2 * H), told(2 * H)],
});
/** The second item fails whenever it is tried: a failure of a call might be lost with the worker that saw it. */
const ERRS: AgentBehaviour = { ...MODELS_STEADY.agent, outcomes: { FINISHED: 0, ERROR: 1, STUCK: 0 } };
const MODELS: ModelOptions = { ...MODELS_STEADY, agentByKey: new Map([['item-1', ERRS]]) };

function batch(shardItems?: number): Parts {
  const run = { do: 'run', plan: BATCH, ...(shardItems === undefined ? {} : { shardItems }) } as const;
  const life: readonly TimedStep[] = [[0, run]];
  return { life, models: MODELS, healMs: 24 * H };
}

function runOf({ stage }: Play): RunState {
  return stage.simulation.stateOf({ machine: 'run', id: 'batch' }) as RunState;
}

function finalSet(one: Play): unknown {
  const { phase, mode, items, spentNanoUsd, sandboxes, closing, reconciliation } = runOf(one);
  return {
    ...{ phase, mode, spentNanoUsd, closing, reconciliation },
    items: items.map(({ key, attempt, ending, costNanoUsd, failures }) => ({
      ...{ key, attempt, costNanoUsd, failures },
      outcome: ending?.outcome,
    })),
    sandboxes: sandboxes.map(({ state }) => state).sort(),
    delivered: [...one.stage.world.delivered.values()],
    violations: one.stage.violations,
  };
}

/** Commands in the order of their orders. A record is not answered, nor is what was cancelled first. */
function pointsOf({ steps }: Play): readonly { readonly id: string; readonly isAnswered: boolean }[] {
  const answered = new Set(steps.flatMap(({ event }) => ('commandId' in event ? [event.commandId] : [])));
  return steps.flatMap(({ commands }) =>
    commands.filter(({ type }) => TYPES.has(type)).map(({ id }) => ({ id, isAnswered: answered.has(id) })),
  );
}

describe.each([
  ['whose items live in the run', batch(), 1],
  // The same orders from other hosts: a sample of them.
  ['whose items live in shards', batch(2), 4],
])('a batch %s', (_, parts, every) => {
  const undisturbed = play(NO_FAULTS, parts);
  const end = finalSet(undisturbed);
  const points = pointsOf(undisturbed);

  it('ends well when nobody disturbs it, after one failure that was tried again', () => {
    expect(end).toMatchObject({
      phase: 'finished',
      items: [{ outcome: 'succeeded' }, { outcome: 'failed', attempt: 2 }, { outcome: 'succeeded' }],
      violations: [],
    });
    expect(points.filter(({ isAnswered }) => isAnswered).length).toBeGreaterThan(60);
  });

  it.each(Object.entries(MOMENTS))('ends with the same set when its worker dies %s', (moment, keyOf) => {
    const needsAnswer = moment === 'before its answer is committed';
    const tried = points.filter(({ isAnswered }, at) => at % every === 0 && (isAnswered || !needsAnswer));
    for (const { id } of tried) {
      const one = play([keyOf(id)], parts);
      expect({ id, struck: one.injected.length, end: finalSet(one) }).toEqual({ id, struck: 1, end });
    }
  });
});
