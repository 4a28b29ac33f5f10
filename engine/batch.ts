/**
 * One group commit in the making: events applied in memory, everything they change collected.
 * Owns the overlay that is thrown away when the commit fails; must not touch store, timers or activities.
 */
import {
  isActivityCommand,
  type ActivityCommand,
  type Command,
  type MachineEvent,
} from '../core/machine/command.ts';
import { addressKey, type EntityAddress } from '../core/ids.ts';
import type { ProjectionRow } from '../core/machine/projection.ts';
import type { CommitBatch, EntityWrite, InboxEntry, Json, OutboxEntry } from '../ports/engine-store.ts';
import { machineOf } from '../core/machine/machines.ts';
import { partsWrite, type KeptLists } from './entity-parts.ts';

/** An entity as the driver holds it between commits. */
export interface HeldEntity {
  readonly address: EntityAddress;
  readonly state: unknown;
  readonly deadline: number | null;
  readonly done: boolean;
  /** What the store has of its state besides the head, as far as that is known. */
  readonly kept: KeptLists;
}

/** An event on its way, with what else its application settles. */
export interface Arrival {
  readonly to: EntityAddress;
  /** Null: only settles the command, whose machine waits for no answer. */
  readonly event: MachineEvent | null;
  /** Command whose answer this is; dropped when that command is no longer out. */
  readonly answers: string | null;
  /** Inbox row to remove; null when the event never had one. */
  readonly inboxId: string | null;
}

/** Seen by tests and traces at every step, silent ones left out. */
export interface StepRecord {
  readonly address: EntityAddress;
  readonly event: MachineEvent;
  readonly before: unknown;
  readonly after: unknown;
  readonly commands: readonly Command[];
}

export interface BatchWorld {
  held(key: string): HeldEntity;
  isOut(commandId: string): boolean;
  readonly now: number;
  /** True: steps are kept, to be shown once they are durable. */
  readonly recordsSteps: boolean;
  /** A machine that throws is a bug: its event is dropped, and everybody else goes on. */
  readonly onStepError: (error: unknown, arrival: Arrival) => void;
}

export class Batch {
  readonly entities = new Map<string, HeldEntity>();
  readonly ordered = new Map<string, OutboxEntry>();
  readonly removed = new Set<string>();
  readonly cancelled = new Set<string>();
  readonly projections: ProjectionRow[] = [];
  readonly inboxRemoved: string[] = [];
  /** Entities whose deadline struck and changed nothing: the clock may have been set back meanwhile. */
  readonly struckEarly: HeldEntity[] = [];
  /** In order; empty unless a caller wants to see them. */
  readonly steps: StepRecord[] = [];
  /** Tells of this batch that have not been applied yet, in order. */
  readonly sends: Arrival[] = [];
  private readonly world: BatchWorld;

  constructor(world: BatchWorld) {
    this.world = world;
  }

  apply(arrival: Arrival): void {
    if (arrival.inboxId !== null) this.inboxRemoved.push(arrival.inboxId);
    if (arrival.answers !== null && !this.takeAnswer(arrival.answers)) return;
    const entity = this.entity(arrival.to);
    // A done entity still answers requests; a tombstone's table has no cell, so nothing comes back to life (D11).
    if (arrival.event === null) return;
    try {
      this.step(entity, arrival.event);
    } catch (error) {
      this.world.onStepError(error, arrival);
    }
  }

  /** The wall clock was set: no step, so none is shown. */
  clockSet(address: EntityAddress, byMs: number): void {
    const entity = this.entity(address);
    const { clockSet, done: isDone } = machineOf(address.machine);
    const state = clockSet === undefined ? entity.state : clockSet(entity.state, byMs);
    if (state === entity.state) return;
    this.entities.set(addressKey(address), { ...entity, state, deadline: null, done: isDone(state) });
  }

  /** False when the command was cancelled or answered before: its answer is late. */
  private takeAnswer(commandId: string): boolean {
    const isOut =
      this.ordered.has(commandId) || (this.world.isOut(commandId) && !this.removed.has(commandId));
    if (!isOut) return false;
    this.removed.add(commandId);
    this.ordered.delete(commandId);
    return true;
  }

  private entity(address: EntityAddress): HeldEntity {
    const key = addressKey(address);
    return this.entities.get(key) ?? this.world.held(key);
  }

  private step(entity: HeldEntity, event: MachineEvent): void {
    const machine = machineOf(entity.address.machine);
    const { state, commands } = machine.step(entity.state, event, this.world.now);
    if (state === entity.state && commands.length === 0) {
      if (event.type === 'deadline') this.struckEarly.push(entity);
      return;
    }
    const { address, kept } = entity;
    if (this.world.recordsSteps)
      this.steps.push({ address, event, before: entity.state, after: state, commands });
    const done = machine.done(state);
    this.entities.set(addressKey(address), { address, state, deadline: null, done, kept });
    for (const command of commands) this.take(address, command);
  }

  private take(sender: EntityAddress, command: Command): void {
    if (isActivityCommand(command)) this.dispatch(sender, command);
    else if (command.type === 'project') this.projections.push(...command.rows);
    else if (command.type === 'cancelCommand') this.cancel(command.commandId);
    else this.sends.push({ to: command.to, event: command.event, answers: null, inboxId: null });
  }

  private dispatch(sender: EntityAddress, command: ActivityCommand): void {
    const { now } = this.world;
    const entry: OutboxEntry = {
      commandId: command.id,
      sender,
      command: command as unknown as Json,
      createdAt: now,
      attempt: 0,
      notBefore: now,
    };
    this.ordered.set(command.id, entry);
  }

  private cancel(commandId: string): void {
    if (this.ordered.delete(commandId)) return;
    this.removed.add(commandId);
    this.cancelled.add(commandId);
  }

  /**
   * What the store has to change; envelopes that did not fit become inbox rows. Nothing is applied after it.
   * Called once: the entities are held from here on as they are when the commit has succeeded.
   */
  toCommit(leftOver: readonly InboxEntry[]): CommitBatch {
    return {
      entities: [...this.entities].map(([key, entity]) => this.close(key, entity)),
      outboxAdded: [...this.ordered.values()],
      outboxRetried: [],
      outboxRemoved: [...this.removed],
      inboxAdded: leftOver,
      inboxRemoved: this.inboxRemoved,
      projections: this.projections,
    };
  }

  /** A deadline is asked for once, however many events an entity took: finding it may mean looking at much. */
  private close(key: string, { address, state, done, kept }: HeldEntity): EntityWrite {
    const machine = machineOf(address.machine);
    const deadline = machine.deadline(state);
    const split = machine.parts?.split(state) ?? null;
    this.entities.set(key, { address, state, deadline, done, kept: split?.lists ?? null });
    const write = { address, state: (split === null ? state : split.head) as Json, deadline, done };
    return split === null ? write : { ...write, parts: partsWrite(kept, split.lists) };
  }

  get isEmpty(): boolean {
    return this.entities.size === 0 && this.removed.size === 0 && this.inboxRemoved.length === 0;
  }
}
