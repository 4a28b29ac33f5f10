/**
 * A plan under a policy on the virtual clock: when, on how many sandboxes, at what cost, and who meets a limit.
 * Owns the question and the shape of its answer; the rules are those of core/, the world is a model.
 */
import { runId } from '../core/ids.ts';
import type { Plan } from '../core/plan.ts';
import type { RunPhase } from '../core/projection.ts';
import { runBirth, type RunItem, type RunState } from '../core/run/state.ts';
import type { Outcome } from '../core/status.ts';
import { Checking, type Violation } from './checking.ts';
import type { ModelOptions, Policy } from './models/model-options.ts';
import { SIMULATED_USER } from './models/run-model.ts';
import { World } from './models/world.ts';
import { PlanTimeline, type LimitMet, type Stretch } from './plan-timeline.ts';
import { RandomStream } from './random.ts';
import { Simulation } from './simulation.ts';
import { Trace } from './trace.ts';

export interface PlanQuestion {
  readonly plan: Plan;
  readonly policy: Policy;
  readonly models: ModelOptions;
  /** Integer of 0 or more; the same seed gives the same answer, byte for byte. */
  readonly seed: number;
  /** Epoch milliseconds at which the run begins. */
  readonly startAt: number;
  /** Virtual time at most, in milliseconds; what is not over by then is shown as it stands. */
  readonly untilMs: number;
  /** Gets every trace line. */
  readonly onTraceLine?: (line: string) => void;
  /** True: every invariant is checked after every step. */
  readonly checks?: boolean;
}

export interface SimulatedConversation {
  readonly key: string;
  readonly attempts: number;
  /** Null: it has not ended. */
  readonly outcome: Outcome | null;
  readonly detail: string | null;
  readonly costNanoUsd: number;
  readonly stretches: readonly Stretch[];
  readonly met: readonly LimitMet[];
}

export interface PlanAnswer {
  readonly conversations: readonly SimulatedConversation[];
  readonly phase: RunPhase;
  /** Why the run is held, when it is. */
  readonly reason: string | null;
  /** From the beginning to the end of the last conversation; null while one has not ended. */
  readonly makespanMs: number | null;
  /** Integer nano-USD of everything collected. */
  readonly costNanoUsd: number;
  /** Most capacity slots held at once, and when first. */
  readonly sandboxesPeak: number;
  readonly sandboxesPeakAt: number;
  /** Epoch milliseconds at which the clock stopped. */
  readonly endedAt: number;
  readonly steps: number;
  /** Over the whole trace. */
  readonly hash: string;
  /** Empty unless `checks`. */
  readonly violations: readonly Violation[];
}

const RUN = runId('simulated');

/** Plays the plan until nothing is left to happen, or the time is up. Never reads a real clock. */
export function simulatePlan(question: PlanQuestion): PlanAnswer {
  const { plan, policy, models, seed, startAt, untilMs } = question;
  const trace = new Trace(question.onTraceLine ?? null);
  const timeline = new PlanTimeline();
  const peak = { count: 0, at: startAt };
  const late: { world: World | null } = { world: null };
  let checking: Checking | null = null;
  const simulation = new Simulation({
    startAt,
    world: (port) => (late.world = new World(port, { models, policy, random: new RandomStream(seed) })),
    onStep: (step) => {
      trace.add(step);
      timeline.add(step);
      checking?.step(step);
      const held = late.world?.slots.size ?? 0;
      if (held > peak.count) Object.assign(peak, { count: held, at: step.at });
    },
  });
  const { world } = late;
  if (world === null) throw new Error('Cannot simulate: there is no world');
  if (question.checks === true) checking = new Checking(simulation, world);
  world.addPlan(RUN, plan);
  const address = { machine: 'run', id: RUN } as const;
  simulation.script(startAt, () =>
    simulation.deliver(address, {
      type: 'runStarted',
      birth: runBirth(plan, { runId: RUN, userId: SIMULATED_USER }),
    }),
  );
  simulation.runUntil(startAt + untilMs);
  checking?.end();
  const run = simulation.stateOf(address) as RunState;
  return {
    ...summary(run, timeline, startAt),
    sandboxesPeak: peak.count,
    sandboxesPeakAt: peak.at,
    endedAt: simulation.now(),
    steps: trace.lines,
    hash: trace.hash,
    violations: checking?.violations ?? [],
  };
}

function summary(run: RunState, timeline: PlanTimeline, startAt: number) {
  const ends = run.items.map(({ endedAt }) => endedAt);
  return {
    conversations: run.items.map((item, index) => conversation(item, timeline.items[index])),
    phase: run.phase,
    reason: run.reason,
    makespanMs: ends.includes(null) ? null : Math.max(startAt, ...ends.map((at) => at ?? 0)) - startAt,
    costNanoUsd: run.spentNanoUsd,
  };
}

function conversation(
  item: RunItem,
  timeline: PlanTimeline['items'][number] | undefined,
): SimulatedConversation {
  return {
    key: item.key,
    attempts: item.attempt,
    outcome: item.phase === 'ended' ? (item.ending?.outcome ?? null) : null,
    detail: item.ending?.detail ?? null,
    costNanoUsd: item.costNanoUsd,
    stretches: timeline?.stretches ?? [],
    met: [...(timeline?.met ?? [])].sort(),
  };
}
