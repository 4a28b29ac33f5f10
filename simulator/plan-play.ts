/**
 * A plan on the virtual clock, moved on bit by bit: whoever holds it looks at any instant and goes on.
 * Owns the wiring of simulation, world, trace, timeline and checkers; must not print or decide.
 */
import { runId, type EntityAddress } from '../core/ids.ts';
import type { Plan } from '../core/plan.ts';
import { runBirth, type RunState } from '../core/run/state.ts';
import { Checking, type Violation } from './checking.ts';
import type { ModelOptions, Policy } from './models/model-options.ts';
import { SIMULATED_USER } from './models/run-model.ts';
import { World } from './models/world.ts';
import { PlanTimeline } from './plan-timeline.ts';
import { RandomStream } from './random.ts';
import { Simulation } from './simulation.ts';
import type { SimulationStep } from './simulation-options.ts';
import { Trace } from './trace.ts';

export interface PlanPlayOptions {
  readonly plan: Plan;
  readonly policy: Policy;
  readonly models: ModelOptions;
  /** Integer of 0 or more; the same seed plays the same steps, byte for byte. */
  readonly seed: number;
  /** Epoch milliseconds at which the run begins. */
  readonly startAt: number;
  /** Gets every trace line. */
  readonly onTraceLine?: (line: string) => void;
  /** Sees every step, after it was taken. */
  readonly onStep?: (step: SimulationStep) => void;
  /** True: every invariant is checked after every step. */
  readonly checks?: boolean;
}

const RUN = runId('simulated');
export const RUN_ADDRESS: EntityAddress = { machine: 'run', id: RUN };

export class PlanPlay {
  readonly simulation: Simulation;
  readonly world: World;
  readonly timeline = new PlanTimeline();
  readonly trace: Trace;
  /** Most capacity slots held at once, and when first. */
  readonly peak: { count: number; at: number };
  private readonly checking: Checking | null;

  constructor(options: PlanPlayOptions) {
    const { plan, policy, models, seed, startAt } = options;
    this.trace = new Trace(options.onTraceLine ?? null);
    this.peak = { count: 0, at: startAt };
    const late: { world: World | null } = { world: null };
    this.simulation = new Simulation({
      startAt,
      world: (port) => (late.world = new World(port, { models, policy, random: new RandomStream(seed) })),
      onStep: (step) => {
        this.see(step);
        options.onStep?.(step);
      },
    });
    if (late.world === null) throw new Error('Cannot simulate: there is no world');
    this.world = late.world;
    this.checking = options.checks === true ? new Checking(this.simulation, this.world) : null;
    this.world.addPlan(RUN, plan);
    const birth = runBirth(plan, { runId: RUN, userId: SIMULATED_USER });
    this.simulation.script(startAt, () =>
      this.simulation.deliver(RUN_ADDRESS, { type: 'runStarted', birth }),
    );
  }

  /** Null before the run was started. */
  get run(): RunState | null {
    return this.simulation.stateOf(RUN_ADDRESS) as RunState | null;
  }

  get violations(): readonly Violation[] {
    return this.checking?.violations ?? [];
  }

  /** Lets everything happen up to that instant, epoch milliseconds, and leaves the clock there. */
  advanceTo(at: number): void {
    this.simulation.runUntil(at);
  }

  /** The clock stops for good: what had to happen by now is checked. */
  end(): void {
    this.checking?.end();
  }

  private see(step: SimulationStep): void {
    this.trace.add(step);
    this.timeline.add(step);
    this.checking?.step(step);
    const held = this.world.slots.size;
    if (held > this.peak.count) Object.assign(this.peak, { count: held, at: step.at });
  }
}
