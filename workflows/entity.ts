/**
 * An entity between two waits: its state, what it has out, and what one activation of it orders.
 * Owns repeats and late answers; must not start, wait for or send anything.
 */
import { isActivityCommand, type ActivityCommand, type Command, type MachineEvent } from '../core/command.ts';
import type { EntityAddress } from '../core/ids.ts';
import { machineOf, type HostedMachine } from '../core/machines.ts';
import type { ProjectionRow } from '../core/projection.ts';
import type { AddressedLetter, Carried, Letter } from './letter.ts';

/** Letters under way to one entity are far fewer; an older repeat meets a machine that expects repeats. */
const SEEN_MAX = 256;

/** Orders of all steps since the last wait, in the order they were given. */
export interface Activation {
  readonly rows: ProjectionRow[];
  readonly letters: AddressedLetter[];
  readonly commands: ActivityCommand[];
  /** Ids of commands that were handed out earlier and are not wanted any more. */
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

export class Entity {
  readonly address: EntityAddress;
  /** Commands whose answer is waited for, by id. */
  readonly out = new Map<string, ActivityCommand>();
  state: unknown;
  private readonly machine: HostedMachine;
  private readonly seen: Set<string>;
  private readonly onStep: ((record: StepRecord) => void) | undefined;
  private activation = empty();

  constructor(address: EntityAddress, carried: Carried | null, onStep?: (record: StepRecord) => void) {
    this.address = address;
    this.machine = machineOf(address.machine);
    this.state = carried?.state ?? null;
    this.seen = new Set(carried?.seen);
    this.onStep = onStep;
    // What the last run had out is handed out again by this one.
    for (const command of carried?.out ?? []) this.order(command);
  }

  get deadline(): number | null {
    return this.machine.deadline(this.state);
  }

  /** Ended for good, with nothing under way. */
  get isDone(): boolean {
    return this.state !== null && this.out.size === 0 && this.machine.done(this.state);
  }

  get seenIds(): readonly string[] {
    return [...this.seen];
  }

  /** A letter counts once, however often it comes. */
  receive(letter: Letter, now: number): void {
    if (this.seen.has(letter.id)) return;
    this.seen.add(letter.id);
    for (const oldest of this.seen) {
      if (this.seen.size <= SEEN_MAX) break;
      this.seen.delete(oldest);
    }
    this.step(letter.event, now);
  }

  /** An answer counts while its command is out; one that was cancelled is late. */
  answer(commandId: string, event: MachineEvent | null, now: number): void {
    if (this.out.delete(commandId) && event !== null) this.step(event, now);
  }

  strike(now: number): void {
    this.step({ type: 'deadline' }, now);
  }

  /** What was ordered since the last call. */
  take(): Activation {
    const taken = this.activation;
    this.activation = empty();
    return taken;
  }

  private step(event: MachineEvent, now: number): void {
    const { state, commands } = this.machine.step(this.state, event, now);
    if (state === this.state && commands.length === 0) return;
    this.state = state;
    this.onStep?.({ address: this.address, at: now, event, after: state, commands });
    for (const command of commands) this.order(command);
  }

  private order(command: Command): void {
    const { rows, letters, commands } = this.activation;
    if (isActivityCommand(command)) {
      this.out.set(command.id, command);
      commands.push(command);
    } else if (command.type === 'project') rows.push(...command.rows);
    else if (command.type === 'tell') letters.push({ to: command.to, id: command.id, event: command.event });
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

function empty(): Activation {
  return { rows: [], letters: [], commands: [], cancelled: [] };
}

/** The address a workflow hosts, from its id. */
export function addressOf(workflowId: string): EntityAddress {
  const slash = workflowId.indexOf('/');
  const machine = workflowId.slice(0, slash) as EntityAddress['machine'];
  return { machine, id: workflowId.slice(slash + 1) };
}
