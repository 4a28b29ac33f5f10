/**
 * What a checker is: a named invariant as one function.
 * Owns the shapes; a checker reads a step and the facts of the world, and changes nothing.
 */
import type { ActivityCommand } from '../../core/command.ts';
import type { EntityAddress, MachineName } from '../../core/ids.ts';
import type { SimulationStep } from '../simulation-options.ts';
import type { WorldFacts } from '../world-facts.ts';

/** What a safety checker sees after a step. */
export interface Moment {
  readonly step: SimulationStep;
  readonly facts: WorldFacts;
}

/** The problem in one sentence, or null when the invariant holds. */
export type SafetyCheck = (moment: Moment) => string | null;

export interface SafetyChecker {
  readonly name: string;
  readonly says: string;
  /** The machine whose steps can break it; null for any. */
  readonly machine: MachineName | null;
  readonly check: SafetyCheck;
}

/** What a liveness checker sees when the clock has stopped. */
export interface Rest {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly entities: readonly { readonly address: EntityAddress; readonly state: unknown }[];
  readonly facts: WorldFacts;
  /** Commands that are still out. */
  readonly outstanding: readonly ActivityCommand[];
}

export interface Finding {
  readonly entity: string;
  readonly problem: string;
}

export type LivenessCheck = (rest: Rest) => readonly Finding[];

export interface LivenessChecker {
  readonly name: string;
  readonly says: string;
  readonly check: LivenessCheck;
}
