/**
 * The simulator's driver: the machines of core/ on a virtual clock, one event at a time.
 * Owns the clock, the total order and the loop "event, step, messages, commands, one timer"; must not own a rule, and
 * reaches no real clock, timer, chance or socket.
 */
import {
  isActivityCommand,
  type ActivityCommand,
  type Command,
  type CommandOf,
  type MachineEvent,
} from '../core/machine/command.ts';
import type { EntityAddress } from '../core/ids.ts';
import { EventHeap } from './event-heap.ts';
import { machineOf } from '../core/machine/machines.ts';
import type { Arrival, Batch, Due, Entity, Out, What } from './in-flight.ts';
import type { ModelPort, WorldModel } from './model-port.ts';
import type { SimulationOptions } from './simulation-options.ts';

/** At one instant the world answers first, then deadlines strike, then users act. */
const PRIORITY = { world: 0, deadline: 1, script: 2 } as const;

/** Events applied at one instant at most: a loop of more would never let time pass. */
const EVENTS_PER_INSTANT_MAX = 100_000;
/** One copy, applied in the batch that sent it. */
const AT_ONCE: readonly number[] = [0];

/** The machines of one world, stepped one event at a time. */
export class Simulation implements ModelPort {
  /** Steps so far, silent ones included. */
  events = 0;
  /** Entries of the order played so far, polls of the model that led to nothing included. */
  played = 0;
  private instant: number;
  /** By how much the clock that machines read was set. */
  private wallSetMs = 0;
  private readonly options: SimulationOptions;
  private readonly world: WorldModel;
  private readonly heap = new EventHeap<Due>();
  /** In order of first contact. */
  private readonly entities: Entity[] = [];
  private readonly byId = {
    sandbox: new Map<string, Entity>(),
    conversation: new Map<string, Entity>(),
    run: new Map<string, Entity>(),
    shard: new Map<string, Entity>(),
  } as const;
  private readonly out = new Map<string, Out>();
  private readonly arrivals: Arrival[] = [];
  private applying = false;
  private sequence = 0;
  private steps = 0;
  private batches = 0;
  private sameInstant = 0;

  constructor(options: SimulationOptions) {
    this.options = options;
    this.instant = options.startAt;
    this.world = options.world(this);
  }

  now(): number {
    return this.instant;
  }

  /** Instant of what comes next; null when nothing ever will. */
  get nextAt(): number | null {
    return this.heap.peek()?.at ?? null;
  }

  /** Entries that wait: the population of the heap. */
  get pending(): number {
    return this.heap.size;
  }

  /** Null when nothing ever reached it. */
  stateOf(address: EntityAddress): unknown {
    return this.byId[address.machine].get(address.id)?.state ?? null;
  }

  /** Every entity that has begun, in order of first contact. */
  *all(): Iterable<{ readonly address: EntityAddress; readonly state: unknown }> {
    for (const { address, state } of this.entities) if (state !== null) yield { address, state };
  }

  /** Commands whose answer is awaited. */
  outstanding(): readonly ActivityCommand[] {
    return [...this.out.values()].map(({ command }) => command);
  }

  /** Another worker takes over: what it holds is what the store kept, so every state goes through the stored form. */
  reload(): void {
    for (const entity of this.entities) entity.state = JSON.parse(JSON.stringify(entity.state));
  }

  later(commandId: string | null, at: number, run: () => void): void {
    this.put(at, PRIORITY.world, { run, commandId, entity: null });
  }

  /** A user's action at an instant: after everything else that happens then. */
  script(at: number, run: () => void): void {
    this.put(at, PRIORITY.script, { run, commandId: null, entity: null });
  }

  answer(command: ActivityCommand, event: MachineEvent | null): void {
    const out = this.out.get(command.id);
    if (out !== undefined) this.arrive({ to: out.sender.address, event, answers: out });
  }

  deliver(to: EntityAddress, event: MachineEvent): void {
    this.world.hears?.(to, event);
    this.arrive({ to, event, answers: null });
  }

  /**
   * Lets everything happen that is due until then, and leaves the clock there.
   * @throws Error when one instant never ends
   */
  runUntil(end: number): void {
    for (let next = this.heap.peek(); next !== undefined && next.at <= end; next = this.heap.peek()) {
      this.heap.pop();
      this.played += 1;
      this.advance(next.at);
      this.play(next);
    }
    if (end > this.instant) this.instant = end;
  }

  private advance(at: number): void {
    if (at > this.instant) this.sameInstant = 0;
    this.instant = at;
    this.sameInstant += 1;
    if (this.sameInstant > EVENTS_PER_INSTANT_MAX)
      throw new Error(`Cannot simulate: more than ${EVENTS_PER_INSTANT_MAX} events at the instant ${at}`);
  }

  private play({ run, commandId, entity, sequence }: Due): void {
    if (entity === null) {
      if (commandId === null || this.out.has(commandId)) run?.();
    } else if (entity.timer === sequence) this.strike(entity);
  }

  /** A deadline strikes when its driver is up and its driver's clock says so: the clock may have been set back. */
  private strike(entity: Entity): void {
    const earlyMs = (entity.armedAt ?? 0) - this.driverNow();
    const at = Math.max(this.instant + earlyMs, this.options.downUntil?.() ?? 0);
    if (at > this.instant) {
      entity.timer = this.putDeadline(entity, at);
      return;
    }
    entity.armedAt = null;
    entity.timer = 0;
    this.arrive({ to: entity.address, event: { type: 'deadline' }, answers: null });
  }

  /** The wall clock of the driver is set, or its machine was suspended: limits of time at work move along (D36). */
  setClock(byMs: number): void {
    this.wallSetMs += byMs;
    for (const entity of this.entities) {
      const { machine, state } = entity;
      if (entity.done || machine.deadline(state) === null) continue;
      if (machine.clockSet !== undefined) entity.state = machine.clockSet(state, byMs);
      // Every deadline is nearer or farther now, moved along or not.
      entity.armedAt = null;
      entity.timer = 0;
      this.arm(entity);
    }
  }

  /** The clock that machines read. */
  private driverNow(): number {
    return this.instant + this.wallSetMs;
  }

  private putDeadline(entity: Entity, at: number): number {
    return this.put(at, PRIORITY.deadline, { run: null, commandId: null, entity });
  }

  private put(at: number, priority: number, { run, commandId, entity }: What): number {
    this.sequence += 1;
    const sequence = this.sequence;
    this.heap.push({ at: Math.max(at, this.instant), priority, sequence, run, commandId, entity });
    return sequence;
  }

  /** One arrival with every message it causes is one batch, as in a driver that commits; the next one is the next. */
  private arrive(arrival: Arrival): void {
    this.arrivals.push(arrival);
    if (this.applying) return;
    this.applying = true;
    try {
      for (let next = this.arrivals.shift(); next !== undefined; next = this.arrivals.shift())
        this.batch(next);
    } finally {
      this.applying = false;
    }
  }

  private batch(first: Arrival): void {
    this.batches += 1;
    const batch: Batch = { sends: [first], touched: [], dispatched: [] };
    for (const arrival of batch.sends) this.apply(arrival, batch);
    for (const command of batch.dispatched) this.world.begin(command);
    for (const entity of batch.touched) this.arm(entity);
  }

  private apply({ to, event, answers }: Arrival, batch: Batch): void {
    if (answers !== null && !this.out.delete(answers.command.id)) return;
    const entity = answers?.sender ?? this.entity(to);
    // What has ended still answers requests; a tombstone's table has no cell, so nothing comes back to life (D11).
    if (event === null) return;
    const { machine, address, state: before } = entity;
    this.events += 1;
    const { state: after, commands } = machine.step(before, event, this.driverNow());
    if (after === before && commands.length === 0) return;
    entity.state = after;
    entity.done = machine.done(after);
    if (entity.batch !== this.batches) batch.touched.push(entity);
    entity.batch = this.batches;
    this.steps += 1;
    for (const command of commands) this.take(entity, command, batch);
    this.options.onStep?.({
      at: this.instant,
      sequence: this.steps,
      address,
      event,
      before,
      after,
      commands,
    });
  }

  private entity(address: EntityAddress): Entity {
    const { machine: name, id } = address;
    const known = this.byId[name].get(id);
    if (known !== undefined) return known;
    const machine = machineOf(name);
    const entity: Entity = { address, machine, state: null, done: false, armedAt: null, timer: 0, batch: 0 };
    this.entities.push(entity);
    this.byId[name].set(id, entity);
    return entity;
  }

  private take(sender: Entity, command: Command, batch: Batch): void {
    if (isActivityCommand(command)) {
      this.out.set(command.id, { command, sender });
      batch.dispatched.push(command);
    } else if (command.type === 'project') this.world.project(command.rows);
    else if (command.type === 'cancelCommand') {
      this.out.delete(command.commandId);
      batch.dispatched = batch.dispatched.filter(({ id }) => id !== command.commandId);
    } else this.send(sender.address, command, batch);
  }

  private send(from: EntityAddress, { to, event }: CommandOf<'send'>, batch: Batch): void {
    for (const delayMs of this.options.tellDelaysMs?.(from, to, event) ?? AT_ONCE) {
      if (delayMs <= 0) batch.sends.push({ to, event, answers: null });
      else this.later(null, this.instant + Math.round(delayMs), () => this.deliver(to, event));
    }
  }

  /** One timer per entity; it keeps its place in the order as long as its instant stays. */
  private arm(entity: Entity): void {
    const at = entity.done ? null : entity.machine.deadline(entity.state);
    if (at === entity.armedAt) return;
    entity.armedAt = at;
    entity.timer = at === null ? 0 : this.putDeadline(entity, at - this.wallSetMs);
  }
}
