/**
 * What a play orders of the engine under it, and what the engine reports back once it is at rest.
 * Owns the shapes, which cross a border of processes: plain data alone.
 */
import type { MachineEvent } from '../../core/machine/command.ts';
import type { EntityAddress } from '../../core/ids.ts';
import type { ProjectionRow } from '../../core/machine/projection.ts';
import type { StepRecord } from '../../workflows/entity.ts';

export type EngineOrder =
  /** An event of the world that awaits no answer. */
  | { readonly do: 'notify'; readonly to: EntityAddress; readonly event: MachineEvent }
  /** A request of a user. */
  | { readonly do: 'request'; readonly to: EntityAddress; readonly event: MachineEvent }
  /** How a command ends. */
  | { readonly do: 'answer'; readonly commandId: string; readonly event: MachineEvent | null }
  /** Tries that hold up a local batch go on in activities of their own. */
  | { readonly do: 'release' }
  /** Time passes, up to an instant of the server's clock, epoch milliseconds. */
  | { readonly do: 'leap'; readonly at: number };

export type Happening =
  /** `passedMs`: real time since the beginning in which the server's clock went on by itself. */
  | { readonly kind: 'step'; readonly step: StepRecord; readonly passedMs: number }
  /** Written to the store. */
  | { readonly kind: 'rows'; readonly rows: readonly ProjectionRow[] };

/** The engine at rest: nothing is under way but what waits for the play. */
export interface Rest {
  /** Since the last rest, in order. */
  readonly happened: readonly Happening[];
  /** The first instant at which a timer of a workflow strikes; null without one. */
  readonly nextTimerAt: number | null;
  /** True: a local batch waits for an answer, and holds its workflow meanwhile. */
  readonly isHeld: boolean;
  /** Runs of all workflows so far. */
  readonly runs: number;
}

/** An engine that carries out orders one after the other, and rests after the last. */
export interface OrderedEngine {
  /** The instant at which plays begin, epoch milliseconds of the server's clock. */
  readonly startAt: number;
  perform(orders: readonly EngineOrder[]): Promise<Rest>;
  close(): Promise<void>;
}
