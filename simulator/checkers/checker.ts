/**
 * What a checker is: a named invariant as one function.
 * Owns the shapes; a checker reads a step and the facts of the world, and changes nothing.
 */
import type { ActivityCommand } from '../../core/machine/command.ts';
import type { EntityAddress, MachineName } from '../../core/ids.ts';
import type { SimulationStep } from '../simulation-options.ts';
import type { WorldFacts } from '../world-facts.ts';

/** How far the driver may be behind the true clock: nothing at all while no fault strikes. */
export interface Timeliness {
  /** True once something struck that may hold answers up. */
  readonly isDisturbed: boolean;
  /** The farthest that the clock of the machines was ever off, in milliseconds. */
  readonly clockOffMs: number;
  /** After everything has healed, what was held up has arrived by so many milliseconds. */
  readonly settleMs: number;
  /** The first instant at or after `at`, epoch milliseconds, at which the driver was there. */
  upAfter(at: number): number;
}

export const PUNCTUAL: Timeliness = {
  isDisturbed: false,
  clockOffMs: 0,
  settleMs: 0,
  upAfter: (at) => at,
};

/** A driver that is on time; what is on a host that was struck is late all the same. */
export function punctualOn(facts: WorldFacts): Timeliness {
  const { hosts } = facts;
  if (hosts === undefined || hosts === null) return PUNCTUAL;
  return {
    ...PUNCTUAL,
    get isDisturbed() {
      return hosts.isDisturbed;
    },
    get settleMs() {
      return hosts.isDisturbed ? hosts.setting.leaseMs : 0;
    },
  };
}

/** What a safety checker sees after a step. */
export interface Moment {
  readonly step: SimulationStep;
  readonly facts: WorldFacts;
  /** Absent: the driver is always there, and on time. */
  readonly timeliness?: Timeliness;
  /** Items that a step of a run has changed, looked for once for all checkers; absent: each looks by itself. */
  readonly changed?: readonly number[];
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

/** As the lists write one: its name, what it says, the machine whose steps can break it, and the check. */
type SafetyRow = readonly [string, string, MachineName | null, SafetyCheck];

export function safety(rows: readonly SafetyRow[]): readonly SafetyChecker[] {
  return rows.map(([name, says, machine, check]) => ({ name, says, machine, check }));
}

/** What a liveness checker sees when the clock has stopped. */
export interface Rest {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly entities: readonly { readonly address: EntityAddress; readonly state: unknown }[];
  readonly facts: WorldFacts;
  readonly outstanding: readonly ActivityCommand[];
  /** Absent: the driver is always there, and on time. */
  readonly timeliness?: Timeliness;
}

export interface Finding {
  readonly entity: string;
  readonly problem: string;
}

type LivenessCheck = (rest: Rest) => readonly Finding[];

export interface LivenessChecker {
  readonly name: string;
  readonly says: string;
  readonly check: LivenessCheck;
}

export function atRest(
  rows: readonly (readonly [string, string, LivenessCheck])[],
): readonly LivenessChecker[] {
  return rows.map(([name, says, check]) => ({ name, says, check }));
}
