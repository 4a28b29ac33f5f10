/**
 * A world on Temporal under time skipping: a fresh server for it alone.
 * Owns nothing but the joining of world and simulation.
 */
import type { PlayedStage } from '../../simulator/plan-play.ts';
import type { ModelPort } from '../../simulator/model-port.ts';
import type { SimulationStep } from '../../simulator/simulation-options.ts';
import type { World } from '../../simulator/models/world.ts';
import { SkippingSimulation } from './skipping-simulation.ts';

/** A server of Temporal that skips time, as a play holds it. */
export interface SkippingStage extends PlayedStage {
  /** Ends the server; what was read stays readable. */
  close(): void;
}

export interface SkippingStageOptions {
  readonly world: (port: ModelPort) => World;
  readonly onStep: (step: SimulationStep) => void;
  /** Real time that everything played on it may take, in milliseconds. */
  readonly wallMs?: number;
}

/** @throws ParleyError engine_misconfigured without a server that skips time */
export function openSkippingStage({ world, onStep, wallMs }: SkippingStageOptions): SkippingStage {
  const late: { world: World | null } = { world: null };
  const simulation = new SkippingSimulation({
    world: (port) => (late.world = world(port)),
    onStep,
    ...(wallMs === undefined ? {} : { wallMs }),
  });
  if (late.world === null) throw new Error('Cannot play on Temporal: there is no world');
  return {
    simulation,
    world: late.world,
    startAt: simulation.startAt,
    close: () => simulation.close(),
  };
}
