/**
 * Runs the checkers beside a simulation: the safety ones after every step, the liveness ones at the end.
 * Owns when each is asked and what is kept of an answer; what must hold is said in checkers/.
 */
import { addressKey } from '../core/ids.ts';
import { changedBy } from './checkers/of-runs.ts';
import { punctualOn, type Moment, type Timeliness } from './checkers/checker.ts';
import { LIVENESS, safetyCheckers } from './checkers/list.ts';
import type { PlayedSimulation } from './played-simulation.ts';
import type { SimulationStep } from './simulation-options.ts';
import type { WorldFacts } from './world-facts.ts';

/** An invariant that does not hold, where, and since when. */
export interface Violation {
  /** The invariant, as docs/simulation.md lists it. */
  readonly name: string;
  readonly at: number;
  /** Step after which it was seen; null at the end. */
  readonly sequence: number | null;
  readonly entity: string;
  readonly problem: string;
}

/** One broken rule breaks many steps: more than these say nothing new. */
const VIOLATIONS_MAX = 100;

/** Asks every checker after every step, and at rest. */
export class Checking {
  readonly violations: Violation[] = [];
  private readonly simulation: PlayedSimulation;
  private readonly facts: WorldFacts;
  private readonly timeliness: Timeliness;
  private readonly safety = safetyCheckers();

  constructor(simulation: PlayedSimulation, facts: WorldFacts, timeliness: Timeliness = punctualOn(facts)) {
    this.simulation = simulation;
    this.facts = facts;
    this.timeliness = timeliness;
  }

  step(step: SimulationStep): void {
    const { facts, timeliness } = this;
    const moment: Moment =
      step.address.machine === 'run'
        ? { step, facts, timeliness, changed: changedBy(step) }
        : { step, facts, timeliness };
    for (const { name, machine, check } of this.safety) {
      if (machine !== null && machine !== step.address.machine) continue;
      const problem = check(moment);
      if (problem !== null)
        this.keep({ name, at: step.at, sequence: step.sequence, entity: addressKey(step.address), problem });
    }
  }

  end(): void {
    const entities = [...this.simulation.all()];
    const rest = {
      now: this.simulation.now(),
      entities,
      facts: this.facts,
      outstanding: this.simulation.outstanding(),
      timeliness: this.timeliness,
    };
    for (const { name, check } of LIVENESS) {
      for (const { entity, problem } of check(rest))
        this.keep({ name, at: rest.now, sequence: null, entity, problem });
    }
  }

  private keep(violation: Violation): void {
    if (this.violations.length < VIOLATIONS_MAX) this.violations.push(violation);
  }
}
