/**
 * A world on Temporal under time skipping: as long as it is open a server is its alone.
 * Owns nothing but the joining of world and simulation.
 */
import type { EntityAddress } from '../../core/ids.ts';
import type { ActivityCommand, MachineEvent } from '../../core/machine/command.ts';
import type { PlayedStage } from '../../simulator/plan-play.ts';
import type { ModelPort, WorldModel } from '../../simulator/model-port.ts';
import type { PlayedSimulation } from '../../simulator/played-simulation.ts';
import type { SimulationStep } from '../../simulator/simulation-options.ts';
import type { World } from '../../simulator/models/world.ts';
import { SkippingPlay, type Playing } from './skipping-play.ts';
import { WaitingEngine } from './waiting-engine.ts';

/** A world on a server of its own, moved on like the simulator. */
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

interface SkippingSimulationOptions {
  readonly world: (port: ModelPort) => WorldModel;
  readonly onStep?: (step: SimulationStep) => void;
  /** Real time that the whole play may take, in milliseconds. */
  readonly wallMs?: number;
}

/**
 * A play on Temporal with the face of the simulator: it is moved on, read and sent events without waiting.
 * Owns nothing but the joining of play and engine.
 */
class SkippingSimulation implements PlayedSimulation {
  /** Epoch milliseconds of the server's clock at the beginning. */
  readonly startAt: number;
  private readonly engine: WaitingEngine;
  private readonly play: SkippingPlay;

  /** @throws ParleyError engine_misconfigured without a server that skips time */
  constructor({ world, onStep, wallMs }: SkippingSimulationOptions) {
    this.engine = new WaitingEngine(wallMs === undefined ? {} : { wallMs });
    this.startAt = this.engine.startAt;
    this.play = new SkippingPlay({
      startAt: this.startAt,
      world,
      ...(onStep === undefined ? {} : { onStep }),
    });
  }

  get events(): number {
    return this.play.events;
  }

  get nextAt(): number | null {
    return this.play.nextAt;
  }

  now(): number {
    return this.play.now();
  }

  stateOf(address: EntityAddress): unknown {
    return this.play.stateOf(address);
  }

  all(): Iterable<{ readonly address: EntityAddress; readonly state: unknown }> {
    return this.play.all();
  }

  outstanding(): readonly ActivityCommand[] {
    return this.play.outstanding();
  }

  script(at: number, run: () => void): void {
    this.play.script(at, run);
  }

  /** A request of a user, answered before this returns. */
  deliver(to: EntityAddress, event: MachineEvent): void {
    this.play.request(to, event);
    this.perform(this.play.settling());
  }

  runUntil(end: number): void {
    this.perform(this.play.until(end));
  }

  close(): void {
    this.engine.close();
  }

  private perform(playing: Playing): void {
    for (let next = playing.next(); next.done !== true;) next = playing.next(this.engine.perform(next.value));
  }
}
