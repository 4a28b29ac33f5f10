/**
 * A plan on the virtual clock, moved on bit by bit: its caller reads the state at any instant and goes on.
 * Owns the wiring of simulation, world, trace, timeline and checkers; must not print or decide.
 */
import { runId, type EntityAddress } from '../core/ids.ts';
import type { Plan } from '../core/plan/plan.ts';
import { runSpec, runSetting } from '../core/run/run-spec.ts';
import type { RunSpec, RunState } from '../core/run/state.ts';
import { Checking, type Violation } from './checking.ts';
import type { FaultMix } from './faults/catalogue.ts';
import { FaultyStage, type FaultyStageOptions } from './faults/faulty-stage.ts';
import type { ModelPort } from './model-port.ts';
import { SIMULATED_USER } from './models/run-model.ts';
import { World } from './models/world.ts';
import { PlanTimeline } from './plan-timeline.ts';
import type { PlayedSimulation } from './played-simulation.ts';
import { RandomStream } from './random.ts';
import { replacing, type ReplacedAnswers } from './recording/replaced-answers.ts';
import { Simulation } from './simulation.ts';
import type { SimulationStep } from './simulation-options.ts';
import { Trace } from './trace.ts';
import { CurveRecorder } from './views/curves.ts';

/** The run begins with the clock. */
export interface PlanPlayOptions extends Pick<
  FaultyStageOptions,
  'startAt' | 'models' | 'policy' | 'seed' | 'onStep'
> {
  readonly plan: Plan;
  /** Gets every trace line. */
  readonly onTraceLine?: (line: string) => void;
  /** True: every invariant is checked after every step. */
  readonly checks?: boolean;
  /** True: slots and spend are sampled on the way. */
  readonly curves?: boolean;
  /** Puts a recorded answer in the place of one that the model made up. */
  readonly replaces?: ReplacedAnswers;
  /** What may fail, and how often; absent or empty: nothing. Not together with `replaces` or `stage`. */
  readonly faults?: FaultMix;
  /** When each item of the plan comes, in milliseconds from the beginning; absent: with the run. */
  readonly arrivals?: readonly number[];
  /** Another driver than the simulator's; it says itself when the clock begins, and is not checked. */
  readonly stage?: OpenStage;
}

/** A driver, and the world that it drives. */
export interface PlayedStage {
  readonly simulation: PlayedSimulation;
  readonly world: World;
  /** Epoch milliseconds at which its clock begins. */
  readonly startAt: number;
}
/** Puts a world and a driver together; `onStep` is called with every step. */
export type OpenStage = (
  world: (port: ModelPort) => World,
  onStep: (step: SimulationStep) => void,
) => PlayedStage;

type Stage = Pick<PlayedStage, 'simulation' | 'world'>;
type OnStep = (step: SimulationStep) => void;

const RUN = runId('simulated');
export const RUN_ADDRESS: EntityAddress = { machine: 'run', id: RUN };

export class PlanPlay {
  readonly simulation: PlayedSimulation;
  readonly world: World;
  /** Epoch milliseconds at which the clock began. */
  readonly startAt: number;
  readonly timeline = new PlanTimeline();
  readonly trace: Trace;
  /** Most capacity slots held at once, and when first. */
  readonly peak: { count: number; at: number };
  readonly curves: CurveRecorder | null;
  private readonly checking: Checking | null;
  /** It has checkers of its own, which know what a fault may delay. */
  private readonly faulty: FaultyStage | null;

  constructor(options: PlanPlayOptions) {
    const { plan } = options;
    this.trace = new Trace(options.onTraceLine ?? null);
    const onStep: OnStep = (step) => {
      this.see(step);
      options.onStep?.(step);
    };
    const mayFail = Object.values(options.faults ?? {}).some((share) => share > 0);
    this.faulty = mayFail ? faultyStage(options, onStep) : null;
    const opened = options.stage?.((port) => worldOf(options, port), onStep) ?? null;
    const stage = opened ?? this.faulty ?? plainStage(options, onStep);
    const startAt = (this.startAt = opened?.startAt ?? options.startAt);
    this.peak = { count: 0, at: startAt };
    this.simulation = stage.simulation;
    this.world = stage.world;
    const isPlain = opened === null && this.faulty === null;
    this.checking = options.checks === true && isPlain ? new Checking(this.simulation, this.world) : null;
    this.curves = options.curves === true ? new CurveRecorder(this.world, startAt) : null;
    this.world.addPlan(RUN, plan);
    const created = runSpec(plan, {
      runId: RUN,
      userId: SIMULATED_USER,
      setting: runSetting(options.policy),
    });
    const spec = arriving(created, options.arrivals ?? [], startAt);
    this.simulation.script(startAt, () => this.simulation.deliver(RUN_ADDRESS, { type: 'runStarted', spec }));
  }

  /** Null before the run was started. */
  get run(): RunState | null {
    return this.simulation.stateOf(RUN_ADDRESS) as RunState | null;
  }

  get violations(): readonly Violation[] {
    return this.faulty?.violations ?? this.checking?.violations ?? [];
  }

  /** Lets everything happen up to that instant, epoch milliseconds, and leaves the clock there. */
  advanceTo(at: number): void {
    this.simulation.runUntil(at);
  }

  /** The clock stops for good: what had to happen by now is checked, unless a fault may have kept it from happening. */
  end(): void {
    this.checking?.end();
  }

  private see(step: SimulationStep): void {
    this.trace.add(step);
    this.timeline.add(step);
    this.checking?.step(step);
    this.curves?.add(step);
    const held = this.world.slots.size;
    if (held > this.peak.count) Object.assign(this.peak, { count: held, at: step.at });
  }
}

function arriving(spec: RunSpec, arrivals: readonly number[], startAt: number): RunSpec {
  if (arrivals.length === 0) return spec;
  const items = spec.items.map((item, index) => {
    const afterMs = arrivals[index] ?? 0;
    return afterMs === 0 ? item : { ...item, notBefore: startAt + afterMs };
  });
  return { ...spec, items };
}

function worldOf({ models, policy, seed, replaces }: PlanPlayOptions, port: ModelPort): World {
  return new World(replacing(port, replaces), { models, policy, random: new RandomStream(seed) });
}

function plainStage(options: PlanPlayOptions, onStep: OnStep): Stage {
  const late: { world: World | null } = { world: null };
  const simulation = new Simulation({
    startAt: options.startAt,
    world: (port) => (late.world = worldOf(options, port)),
    onStep,
  });
  if (late.world === null) throw new Error('Cannot simulate: there is no world');
  return { simulation, world: late.world };
}

function faultyStage(options: PlanPlayOptions, onStep: OnStep): FaultyStage {
  const { faults: mix = {}, checks = false } = options;
  return new FaultyStage({ ...options, checks, onStep, faults: { kind: 'mix', mix } });
}
