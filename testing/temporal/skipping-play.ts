/**
 * A model of the world joined to an engine on a server that skips time: what acts when, in one total order.
 * Owns that order and what of the machines' states was reported; must not know how an order reaches the engine: each
 * method that lets time pass yields orders, and goes on with the rest that follows them.
 *
 * A poll of the model that leads to nothing costs the server nothing: time leaps there only for an order.
 */
import { isActivityCommand, type ActivityCommand, type MachineEvent } from '../../core/machine/command.ts';
import { addressKey, type EntityAddress } from '../../core/ids.ts';
import { EventHeap, type HeapEntry } from '../../simulator/event-heap.ts';
import type { ModelPort, WorldModel } from '../../simulator/model-port.ts';
import type { SimulationStep } from '../../simulator/simulation-options.ts';
import type { EngineOrder, Happening, Rest } from './engine-order.ts';

interface Due extends HeapEntry {
  readonly commandId: string | null;
  readonly run: () => void;
}

interface Entity {
  readonly address: EntityAddress;
  readonly state: unknown;
}

export interface SkippingPlayOptions {
  /** Epoch milliseconds of the server's clock. */
  readonly startAt: number;
  readonly world: (port: ModelPort) => WorldModel;
  /** `passedMs` as in a happening. */
  readonly onStep?: (step: SimulationStep, passedMs: number) => void;
}

/** Orders, and the rest after them. */
export type Playing = Generator<readonly EngineOrder[], void, Rest>;

export class SkippingPlay implements ModelPort {
  /** Steps so far. */
  events = 0;
  /** Entries of the order played so far. */
  played = 0;
  /** Runs of all workflows so far. */
  runs = 0;
  private instant: number;
  private sequence = 0;
  private nextTimerAt = Infinity;
  private isHeld = false;
  private readonly heap = new EventHeap<Due>();
  private readonly scripts = new EventHeap<Due>();
  private readonly entities = new Map<string, Entity>();
  /** Ordered by a machine and not yet begun by the model. */
  private ordered: ActivityCommand[] = [];
  private readonly out = new Map<string, ActivityCommand>();
  private answers: { readonly commandId: string; readonly event: MachineEvent | null }[] = [];
  /** To be sent before the engine rests again. */
  private orders: EngineOrder[] = [];
  private readonly world: WorldModel;
  private readonly onStep: SkippingPlayOptions['onStep'];

  constructor({ startAt, world, onStep }: SkippingPlayOptions) {
    this.instant = startAt;
    this.onStep = onStep;
    this.world = world(this);
  }

  /** The instant of what happens now: that of the plan, however late the server came to it, so that no clock drifts. */
  now(): number {
    return this.instant;
  }

  /** Instant of what comes next; null when nothing ever will. */
  get nextAt(): number | null {
    const at = this.next();
    return Number.isFinite(at) ? at : null;
  }

  /** Null when nothing of it was ever reported. */
  stateOf(address: EntityAddress): unknown {
    return this.entities.get(addressKey(address))?.state ?? null;
  }

  /** Every entity that was created, in order of first contact. */
  all(): Iterable<Entity> {
    return this.entities.values();
  }

  /** Commands whose answer is awaited. */
  outstanding(): readonly ActivityCommand[] {
    return [...this.ordered, ...this.out.values()];
  }

  later(commandId: string | null, at: number, run: () => void): void {
    this.put(this.heap, { at, commandId, run });
  }

  /** A user's action at an instant: after everything else that happens then. */
  script(at: number, run: () => void): void {
    this.put(this.scripts, { at, commandId: null, run });
  }

  answer({ id }: ActivityCommand, event: MachineEvent | null): void {
    if (this.out.delete(id)) this.answers.push({ commandId: id, event });
  }

  deliver(to: EntityAddress, event: MachineEvent): void {
    this.orders.push({ do: 'notify', to, event });
  }

  /** A request of a user; it is sent when the play goes on. */
  request(to: EntityAddress, event: MachineEvent): void {
    this.world.hears?.(to, event);
    this.orders.push({ do: 'request', to, event });
  }

  /** Lets everything happen that is due until then, and leaves the clock of the play there. */
  *until(end: number): Playing {
    yield* this.settling();
    for (let at = this.next(); at <= end; at = this.next()) {
      this.instant = Math.max(this.instant, at);
      this.played += 1;
      if (this.nextTimerAt <= this.instant) yield* this.leaping();
      else if (this.isDue(this.heap)) this.fire(this.heap);
      else this.fire(this.scripts);
      yield* this.settling();
    }
    this.instant = Math.max(this.instant, end);
  }

  /** Lets everything happen that is due now. The engine gets no call without orders. */
  *settling(): Playing {
    if (this.orders.length + this.answers.length + this.ordered.length === 0 && !this.isHeld) return;
    if (this.orders.length + this.answers.length > 0) yield* this.leaping();
    for (;;) {
      if (this.orders.length > 0) yield* this.resting();
      if (this.beginOrdered()) continue;
      const answer = this.answers.shift();
      if (answer !== undefined) this.orders.push({ do: 'answer', ...answer });
      else if (this.isDue(this.heap)) this.fire(this.heap);
      else if (this.isHeld) this.orders.push({ do: 'release' });
      else return;
    }
  }

  /** The server's clock comes after, and what its timers do is reported. */
  private *leaping(): Playing {
    this.take(yield [{ do: 'leap', at: this.instant }]);
  }

  private *resting(): Playing {
    this.take(yield this.orders.splice(0));
  }

  private next(): number {
    return Math.min(this.heap.peek()?.at ?? Infinity, this.scripts.peek()?.at ?? Infinity, this.nextTimerAt);
  }

  private put(heap: EventHeap<Due>, { at, commandId, run }: Pick<Due, 'at' | 'commandId' | 'run'>): void {
    this.sequence += 1;
    const sequence = this.sequence;
    heap.push({ at: Math.max(at, this.instant), priority: 0, sequence, commandId, run });
  }

  private isDue(heap: EventHeap<Due>): boolean {
    return (heap.peek()?.at ?? Infinity) <= this.instant;
  }

  private fire(heap: EventHeap<Due>): void {
    const due = heap.pop();
    if (due !== undefined && (due.commandId === null || this.out.has(due.commandId))) due.run();
  }

  /** In the order in which machines gave them; true when there were any. */
  private beginOrdered(): boolean {
    const begun = this.ordered.splice(0);
    for (const command of begun) {
      this.out.set(command.id, command);
      this.world.begin(command);
    }
    return begun.length > 0;
  }

  private take({ happened, nextTimerAt, isHeld, runs }: Rest): void {
    this.nextTimerAt = nextTimerAt ?? Infinity;
    this.isHeld = isHeld;
    this.runs = runs;
    for (const happening of happened) this.see(happening);
  }

  private see(happening: Happening): void {
    if (happening.kind === 'rows') return this.world.project(happening.rows);
    const { step, passedMs } = happening;
    const before = this.stateOf(step.address);
    this.entities.set(addressKey(step.address), { address: step.address, state: step.after });
    this.events += 1;
    for (const command of step.commands) {
      if (isActivityCommand(command)) this.ordered.push(command);
      else if (command.type === 'cancelCommand') this.cancel(command.commandId);
    }
    this.onStep?.({ ...step, sequence: this.events, before }, passedMs);
  }

  private cancel(commandId: string): void {
    this.ordered = this.ordered.filter(({ id }) => id !== commandId);
    this.answers = this.answers.filter((answer) => answer.commandId !== commandId);
    this.out.delete(commandId);
  }
}
