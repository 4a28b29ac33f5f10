/**
 * What the driver of the simulator holds between two events: entities, commands that are out, arrivals, and their order.
 * Owns the shapes; the loop is in simulation.ts.
 */
import type { ActivityCommand, MachineEvent } from '../core/machine/command.ts';
import type { EntityAddress } from '../core/ids.ts';
import type { HostedMachine } from '../core/machine/machines.ts';
import type { HeapEntry } from './event-heap.ts';

export interface Entity {
  readonly address: EntityAddress;
  readonly machine: HostedMachine;
  state: unknown;
  done: boolean;
  armedAt: number | null;
  /** Sequence of the heap entry that is its timer; any other deadline entry is void. */
  timer: number;
  /** The last batch that changed it. */
  batch: number;
}

/** A command whose answer is awaited. */
export interface Out {
  readonly command: ActivityCommand;
  readonly sender: Entity;
}

export interface Arrival {
  readonly to: EntityAddress;
  readonly event: MachineEvent | null;
  /** The command it answers; dropped when that one is not out any more. */
  readonly answers: Out | null;
}

/** What an entry of the order does. */
export interface What {
  /** Null for a deadline. */
  readonly run: (() => void) | null;
  readonly commandId: string | null;
  readonly entity: Entity | null;
}
export type Due = HeapEntry & What;

export interface Batch {
  readonly sends: Arrival[];
  readonly touched: Entity[];
  /** Less what was cancelled again in the same batch. */
  dispatched: ActivityCommand[];
}
