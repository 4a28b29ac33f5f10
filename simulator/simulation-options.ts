/**
 * What a simulation is given, and what it shows of every step.
 * Owns the shapes; the loop is in simulation.ts.
 */
import type { Command, MachineEvent } from '../core/machine/command.ts';
import type { EntityAddress } from '../core/ids.ts';
import type { ModelPort, WorldModel } from './model-port.ts';

/** One step that changed or ordered something; silent ones are left out. */
export interface SimulationStep {
  /** Epoch milliseconds of the virtual clock. */
  readonly at: number;
  /** Counts from 1. */
  readonly sequence: number;
  readonly address: EntityAddress;
  readonly event: MachineEvent;
  readonly before: unknown;
  readonly after: unknown;
  readonly commands: readonly Command[];
}

export interface SimulationOptions {
  /** Epoch milliseconds at which the virtual clock begins. */
  readonly startAt: number;
  /** The world behind the commands, given the port through which it acts. */
  readonly world: (port: ModelPort) => WorldModel;
  /**
   * Milliseconds after which each copy of a message to a machine arrives: one entry per copy, none when it is lost.
   * Absent: one copy at the same instant, first in first out, as the embedded engine does.
   */
  readonly tellDelaysMs?: (from: EntityAddress, to: EntityAddress, event: MachineEvent) => readonly number[];
  /** While the driver is down, until when: no deadline strikes before. Null: it is up. */
  readonly downUntil?: () => number | null;
  readonly onStep?: (step: SimulationStep) => void;
}
