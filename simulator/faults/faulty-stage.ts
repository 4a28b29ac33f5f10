/**
 * A simulation whose worker, store, messages and clients fail: what the simulator plays when faults may strike.
 * Owns the wiring of driver, faults, world and checkers; with no faults it plays exactly what a simulation plays.
 */
import type { ActivityCommand, MachineEvent } from '../../core/machine/command.ts';
import { type EntityAddress, addressKey } from '../../core/ids.ts';
import { MINUTE_MS } from '../../core/time.ts';
import type { Timeliness } from '../checkers/checker.ts';
import { Checking, type Violation } from '../checking.ts';
import type { ModelPort, WorldModel } from '../model-port.ts';
import type { ModelOptions, Policy } from '../models/model-options.ts';
import type { PlacementModel } from '../models/placement-model.ts';
import { World } from '../models/world.ts';
import { RandomStream } from '../random.ts';
import { Simulation } from '../simulation.ts';
import type { SimulationStep } from '../simulation-options.ts';
import { phaseOf } from '../view.ts';
import { ClientFaults } from './client-faults.ts';
import { Clients } from './clients.ts';
import { Commits } from './commits.ts';
import { Edge } from './edge.ts';
import { figureIn, TELL_DELAY } from './figures.ts';
import { Held } from './held.ts';
import { Injector, type FaultSource, type Injected } from './injector.ts';
import { Opportunities, senderOf } from './opportunities.ts';
import { Outages } from './outages.ts';
import { Worker } from './worker.ts';
import { WorkerClock } from './worker-clock.ts';

export interface FaultyStageOptions {
  /** Epoch milliseconds at which the virtual clock begins. */
  readonly startAt: number;
  readonly models: ModelOptions;
  readonly policy: Policy;
  /** Integer of 0 or more; the same seed plays the same steps, byte for byte. */
  readonly seed: number;
  readonly faults: FaultSource;
  /** Sees every step, after it was taken. */
  readonly onStep?: (step: SimulationStep) => void;
  /** Sees every fault that strikes. */
  readonly onInjected?: (injected: Injected) => void;
  /** False: no invariant is checked. */
  readonly checks?: boolean;
}

interface Layer {
  readonly world: World;
  readonly held: Held;
  readonly store: Outages;
  readonly worker: Worker;
  readonly clock: WorkerClock;
  readonly clients: Clients;
  readonly transport: TransportFaults;
  readonly oldReplica: OldReplica;
  readonly model: WorldModel;
  readonly punctuality: Punctuality;
}

export class FaultyStage {
  readonly simulation: Simulation;
  readonly world: World;
  readonly injector: Injector;
  private readonly layer: Layer;
  private readonly checking: Checking | null;

  constructor(options: FaultyStageOptions) {
    const { startAt, seed, faults } = options;
    const random = new RandomStream(seed);
    this.injector = new Injector(faults, random.split('faults'), options.onInjected ?? null);
    const late: { layer: Layer | null; checking: Checking | null } = { layer: null, checking: null };
    const isDown = (): number | null => late.layer?.punctuality.absentUntil ?? null;
    this.simulation = new Simulation({
      startAt,
      world: (port) => (late.layer = this.layOut(port, options)).model,
      tellDelaysMs: (from, to, event) => late.layer?.transport.delaysMs(from, to, event) ?? [0],
      downUntil: isDown,
      onStep: (step) => {
        late.checking?.step(step);
        options.onStep?.(step);
        late.layer?.clients.sees(step);
      },
    });
    if (late.layer === null) throw new Error('Cannot simulate: there is no world');
    this.layer = late.layer;
    this.world = this.layer.world;
    const { punctuality } = this.layer;
    if (options.checks !== false) late.checking = new Checking(this.simulation, this.world, punctuality);
    this.checking = late.checking;
  }

  get violations(): readonly Violation[] {
    return this.checking?.violations ?? [];
  }

  /** What a client sends, through the faults of clients, store and worker. */
  deliver(to: EntityAddress, event: MachineEvent): void {
    this.layer.clients.deliver(to, event);
  }

  /** Lets everything happen up to that instant, epoch milliseconds, and leaves the clock there. */
  advanceTo(at: number): void {
    this.simulation.runUntil(at);
  }

  /** Nothing strikes any more, what is away comes back, what is held arrives. */
  heal(): void {
    const { held, store, oldReplica } = this.layer;
    this.injector.heal();
    oldReplica.heal();
    this.world.heal();
    store.end(this.simulation.now());
    held.letGo();
  }

  /** The clock stops: what had to happen by now is checked. */
  end(): void {
    this.checking?.end();
  }

  private layOut(port: ModelPort, { models, policy, seed }: FaultyStageOptions): Layer {
    const { injector } = this;
    const held = new Held(port);
    const opportunities = new Opportunities(port, injector);
    const [store, workerDown] = [new Outages(), new Outages()];
    const commits = new Commits({ port, held, opportunities, outages: store });
    const driver = (): Simulation => this.simulation;
    const clock = new WorkerClock(opportunities, held, driver);
    const worker = new Worker({ port, held, opportunities, commits, clock, outages: workerDown, driver });
    const world = new World(worker, { models, policy, random: new RandomStream(seed), injector });
    const edge = new Edge();
    const oldReplica = new OldReplica(opportunities, world.placement);
    worker.serve({
      begin: (command) => {
        oldReplica.poll(command);
        world.begin(command);
      },
      project: (rows) => {
        edge.project(rows);
        world.project(rows);
      },
    });
    const isUncreated = (to: EntityAddress): boolean => driver().stateOf(to) === null;
    const clients = new Clients({ port, held, opportunities, commits, worker, world, isUncreated });
    const isKnown = (to: EntityAddress): boolean => phaseOf(driver().stateOf(to)) !== 'deleted';
    const send = (to: EntityAddress, event: MachineEvent): void => clients.send(to, event);
    const { accepted } = world;
    clients.meddle(new ClientFaults({ port, held, opportunities, edge, accepted, send, isKnown }));
    const transport = new TransportFaults(opportunities, () => port.now());
    const punctuality = new Punctuality({
      now: () => port.now(),
      clock,
      outages: [store, workerDown],
      injector,
      areHostsStruck: () => world.hosts?.isDisturbed === true,
    });
    return { world, held, store, worker, clock, clients, transport, oldReplica, model: worker, punctuality };
  }
}

/** Reads of a replica that lags: a placement sees a sandbox as it was. */
class OldReplica {
  private readonly opportunities: Opportunities;
  private readonly placement: PlacementModel;

  constructor(opportunities: Opportunities, placement: PlacementModel) {
    this.opportunities = opportunities;
    this.placement = placement;
  }

  /** A placement begins: some sandbox of its user may be read as it was when it was available. */
  poll(command: ActivityCommand): void {
    if (command.type !== 'placeConversation' || !this.opportunities.any('store_old_replica')) return;
    const ids = [...this.placement.rows.values()]
      .filter(({ userId }) => userId === command.userId)
      .map(({ sandboxId }) => sandboxId);
    const sender = senderOf(command.id);
    const where = this.opportunities.name('place', sender);
    const lags = ids.length === 0 ? null : this.opportunities.strikes('store_old_replica', where, sender);
    const id = lags === null ? undefined : ids[Math.floor(lags.next() * ids.length)];
    if (id !== undefined) this.placement.mislead(id);
  }

  heal(): void {
    this.placement.readAnew();
  }
}

/** What was held when everything healed has arrived by then: more than the longest outage and the longest delay. */
const SETTLE_MS = 30 * MINUTE_MS;

interface Parts {
  readonly now: () => number;
  readonly clock: WorkerClock;
  readonly outages: readonly Outages[];
  readonly injector: Injector;
  /** Whether something struck a host. */
  readonly areHostsStruck: () => boolean;
}

/** How far the driver can be behind the true clock, for checkers that compare both. */
class Punctuality implements Timeliness {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** No deadline strikes before; null while worker and store are there. */
  get absentUntil(): number | null {
    const now = this.parts.now();
    let until: number | null = null;
    for (const outages of this.parts.outages) {
      const one = outages.until(now);
      if (one !== null && (until === null || one > until)) until = one;
    }
    return until;
  }

  get isDisturbed(): boolean {
    return this.parts.injector.injected.length > 0 || this.parts.areHostsStruck();
  }

  get clockOffMs(): number {
    return this.parts.clock.worstMs;
  }

  get settleMs(): number {
    return this.isDisturbed ? SETTLE_MS : 0;
  }

  upAfter(at: number): number {
    let up = at;
    for (let before = -1; before !== up;) {
      before = up;
      for (const outages of this.parts.outages) up = outages.upAfter(up);
    }
    return up;
  }
}

const AT_ONCE: readonly number[] = [0];

/** Messages between machines that are late, out of order, or there twice. */
class TransportFaults {
  /** Until when the messages of one machine to another wait behind a late one. */
  private readonly queues = new Map<string, number>();
  private readonly opportunities: Opportunities;
  private readonly now: () => number;

  constructor(opportunities: Opportunities, now: () => number) {
    this.opportunities = opportunities;
    this.now = now;
  }

  /** Milliseconds until each copy arrives. */
  delaysMs(from: EntityAddress, to: EntityAddress, event: MachineEvent): readonly number[] {
    if (!this.opportunities.any('tell_delayed', 'tell_delayed_in_order', 'tell_repeated')) return AT_ONCE;
    const where = this.opportunities.name(`tell/${event.type}/${addressKey(to)}`, from);
    const first = this.delayMs(`${addressKey(from)}>${addressKey(to)}`, where, from);
    const twice = this.opportunities.strikes('tell_repeated', where, from);
    if (twice !== null) return [first, first + figureIn(TELL_DELAY, twice)];
    return first === 0 ? AT_ONCE : [first];
  }

  private delayMs(queue: string, where: string, from: EntityAddress): number {
    const anyOrder = this.opportunities.strikes('tell_delayed', where, from);
    if (anyOrder !== null) return figureIn(TELL_DELAY, anyOrder);
    const inOrder = this.opportunities.strikes('tell_delayed_in_order', where, from);
    const behind = this.queues.get(queue);
    if (inOrder === null && behind === undefined) return 0;
    const now = this.now();
    // One that arrives at this very instant may still wait in the order of things: whatever follows waits longer.
    const afterMs = behind !== undefined && behind >= now ? Math.max(1, behind - now) : 0;
    const delayMs = afterMs + (inOrder === null ? 0 : figureIn(TELL_DELAY, inOrder));
    if (delayMs === 0) this.queues.delete(queue);
    else this.queues.set(queue, now + Math.min(delayMs, TELL_DELAY.maxMs));
    return Math.min(delayMs, TELL_DELAY.maxMs);
  }
}
