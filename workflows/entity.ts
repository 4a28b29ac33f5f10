/**
 * An entity between two waits: its state, what it has out, and what its latest steps order.
 * Owns repeats, late answers, and the way back to where the last batch was settled; must not start or send anything.
 */
import {
  isActivityCommand,
  type ActivityCommand,
  type Command,
  type MachineEvent,
} from '../core/machine/command.ts';
import type { EntityAddress, MachineName } from '../core/ids.ts';
import { machineOf, type HostedMachine } from '../core/machine/machines.ts';
import type { ProjectionRow } from '../core/machine/projection.ts';
import type { Input } from './input.ts';
import type { AddressedEnvelope, Carried } from './envelope.ts';

/** Envelopes under way to one entity are far fewer; an older repeat meets a machine that expects repeats. */
const SEEN_MAX = 256;

/** Orders of all steps since the last batch was settled, in the order they were given. */
export interface Activation {
  readonly rows: ProjectionRow[];
  readonly envelopes: AddressedEnvelope[];
  readonly commands: ActivityCommand[];
  /** Ids of commands that were dispatched earlier and are not wanted any more. */
  readonly cancelled: string[];
}

/** A step as tests see it; silent ones are left out. */
export interface StepRecord {
  readonly address: EntityAddress;
  readonly at: number;
  readonly event: MachineEvent;
  readonly after: unknown;
  readonly commands: readonly Command[];
}

/** `number` counts the steps of one run of a workflow; a step that is taken back and taken anew has the same one. */
export type StepListener = (record: StepRecord, number: number) => void;

/** Where an entity can be taken back to. */
interface Settled {
  readonly state: unknown;
  /** Taken by then. */
  readonly steps: number;
  readonly out: readonly ActivityCommand[];
  readonly seen: readonly string[];
  /** Commands that are ordered from here on without a step: those of the run before. */
  readonly inherited: readonly ActivityCommand[];
}

export interface EntityOptions {
  readonly onStep?: StepListener | undefined;
  /** False: a run or a shard that rests keeps its workflow, as in older builds. True by default. */
  readonly endsAtRest?: boolean;
}

/** These have always ended their workflow. */
const ENDED_AT_REST_BEFORE: readonly MachineName[] = ['conversation', 'sandbox'];

export class Entity {
  readonly address: EntityAddress;
  /** Commands whose answer is waited for, by id. */
  readonly out = new Map<string, ActivityCommand>();
  state: unknown = null;
  private readonly machine: HostedMachine;
  private readonly seen = new Set<string>();
  private readonly onStep: StepListener | undefined;
  private readonly mayRest: boolean;
  private steps = 0;
  private settled: Settled;
  /** What was applied since. */
  private applied: Input[] = [];
  private activation = empty();
  private rested: unknown = null;

  constructor(address: EntityAddress, carried: Carried | null, options: EntityOptions = {}) {
    this.address = address;
    this.machine = machineOf(address.machine);
    this.onStep = options.onStep;
    this.mayRest = options.endsAtRest !== false || ENDED_AT_REST_BEFORE.includes(address.machine);
    // What the last run had out is dispatched again by this one.
    this.settled = {
      state: carried?.state ?? null,
      steps: 0,
      out: [],
      seen: carried?.seen ?? [],
      inherited: carried?.out ?? [],
    };
    this.rollback();
  }

  get deadline(): number | null {
    return this.machine.deadline(this.state);
  }

  /** Nothing is under way, and nothing will be without a new request: its workflow may end. */
  get isAtRest(): boolean {
    const { state, machine } = this;
    if (state === null || this.out.size > 0) return false;
    if (machine.done(state)) return true;
    return this.mayRest && machine.rests?.(state) === true && machine.deadline(state) === null;
  }

  /**
   * Its latest state at rest since the last batch was settled; null when it was at none. It stays set when more comes:
   * an execution that takes two envelopes at once announces a batch whenever one that took the first alone did.
   */
  get restedIn(): unknown {
    return this.rested;
  }

  get seenIds(): readonly string[] {
    return [...this.seen];
  }

  /** Inputs since the last batch was settled, in the order in which they were applied. */
  get inputs(): readonly Input[] {
    return this.applied;
  }

  /** What was ordered since the last batch was settled. */
  get orders(): Activation {
    return this.activation;
  }

  get hasOrders(): boolean {
    const { rows, envelopes, commands, cancelled } = this.activation;
    return rows.length + envelopes.length + commands.length + cancelled.length > 0;
  }

  /** An envelope counts once, however often it comes; an answer counts while its command is out. False: it did not. */
  apply(input: Input): boolean {
    if (!this.counts(input)) return false;
    this.applied.push(input);
    if (input.kind === 'clock') this.state = this.machine.clockSet?.(this.state, input.byMs) ?? this.state;
    const event = eventOf(input);
    if (event !== null) this.step(event, input.at);
    if (this.isAtRest) this.rested = this.state;
    return true;
  }

  /** What was ordered is on its way, whatever happens: there is no way back before here. */
  settle(): void {
    const { state, steps, seenIds: seen } = this;
    this.settled = { state, steps, out: [...this.out.values()], seen, inherited: [] };
    this.applied = [];
    this.activation = empty();
    this.rested = this.isAtRest ? state : null;
  }

  /** Rolls back and takes other inputs; returns those that it had taken. */
  rebase(inputs: readonly Input[]): readonly Input[] {
    const taken = this.rollback();
    for (const input of inputs) this.apply(input);
    return taken;
  }

  /** Back to where the last batch was settled; returns the inputs taken since. */
  rollback(): readonly Input[] {
    const taken = this.applied;
    const { state, steps, out, seen, inherited } = this.settled;
    this.state = state;
    this.steps = steps;
    this.out.clear();
    for (const command of out) this.out.set(command.id, command);
    this.seen.clear();
    for (const id of seen) this.seen.add(id);
    this.applied = [];
    this.activation = empty();
    for (const command of inherited) this.order(command);
    this.rested = this.isAtRest ? state : null;
    return taken;
  }

  private counts(input: Input): boolean {
    switch (input.kind) {
      case 'envelope':
        return this.remember(input.envelope.id);
      case 'answer':
        return this.out.delete(input.commandId);
      case 'clock':
      case 'deadline':
        return true;
    }
  }

  /** False when it was seen before. */
  private remember(envelopeId: string): boolean {
    if (this.seen.has(envelopeId)) return false;
    this.seen.add(envelopeId);
    for (const oldest of this.seen) {
      if (this.seen.size <= SEEN_MAX) break;
      this.seen.delete(oldest);
    }
    return true;
  }

  private step(event: MachineEvent, now: number): void {
    const { state, commands } = this.machine.step(this.state, event, now);
    if (state === this.state && commands.length === 0) return;
    this.state = state;
    this.steps += 1;
    this.onStep?.({ address: this.address, at: now, event, after: state, commands }, this.steps);
    for (const command of commands) this.order(command);
  }

  private order(command: Command): void {
    const { rows, envelopes, commands } = this.activation;
    if (isActivityCommand(command)) {
      this.out.set(command.id, command);
      commands.push(command);
    } else if (command.type === 'project') rows.push(...command.rows);
    else if (command.type === 'send')
      envelopes.push({ to: command.to, id: command.id, event: command.event });
    else this.cancel(command.commandId);
  }

  private cancel(commandId: string): void {
    const { commands, cancelled } = this.activation;
    this.out.delete(commandId);
    const unsent = commands.findIndex(({ id }) => id === commandId);
    if (unsent >= 0) commands.splice(unsent, 1);
    else cancelled.push(commandId);
  }
}

/** Null: an answer that its machine does not wait for, or no event at all. */
function eventOf(input: Input): MachineEvent | null {
  switch (input.kind) {
    case 'envelope':
      return input.envelope.event;
    case 'answer':
      return input.event;
    case 'clock':
      return null;
    case 'deadline':
      return { type: 'deadline' };
  }
}

function empty(): Activation {
  return { rows: [], envelopes: [], commands: [], cancelled: [] };
}
