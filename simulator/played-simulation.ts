/**
 * What a play needs of the driver below: a clock that is moved on, states that are read, events that are delivered.
 * Owns the interface, so that a play does not know whether the simulator or another driver loops the machines.
 */
import type { Simulation } from './simulation.ts';

/** A driver that a play moves on. */
export type PlayedSimulation = Pick<
  Simulation,
  'all' | 'deliver' | 'events' | 'nextAt' | 'now' | 'outstanding' | 'runUntil' | 'script' | 'stateOf'
>;
