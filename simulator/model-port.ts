/**
 * What a model may do: read the clock, wait, answer, and send an event to an entity.
 * Owns the interface between models and whatever plays them, so that one model serves every driver.
 */
import type { ActivityCommand, MachineEvent } from '../core/machine/command.ts';
import type { EntityAddress } from '../core/ids.ts';
import type { ProjectionRow } from '../core/machine/projection.ts';

/** A driver as models see it. */
export interface ModelPort {
  /** Epoch milliseconds of the virtual clock. */
  now(): number;
  /** Runs once at that instant; never when `commandId` names a command that is not out any more. Null always runs. */
  later(commandId: string | null, at: number, run: () => void): void;
  /** The outcome of a command, at most once and never inside `begin`; null when its machine waits for none. */
  answer(command: ActivityCommand, event: MachineEvent | null): void;
  /** An event from outside; applied before an answer that is given after it. */
  deliver(to: EntityAddress, event: MachineEvent): void;
}

/** A world that carries out commands. */
export interface WorldModel {
  begin(command: ActivityCommand): void;
  project(rows: readonly ProjectionRow[]): void;
  /** An event sent to an entity, before its machine receives it: some of it reaches the world as well. */
  hears?(to: EntityAddress, event: MachineEvent): void;
}
