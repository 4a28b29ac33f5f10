/**
 * What workflows under observation tell the process around them.
 * Owns the shapes only.
 */
import type { Sinks } from '@temporalio/workflow';
import type { StepRecord } from '../../workflows/entity.ts';

/** A run of a workflow as an activation of it left it. */
export interface Note {
  /** Signals that were handled since the run began. */
  readonly signals: number;
  /** Local batches under way. */
  readonly locals: number;
  /** Ids of commands that are carried out by an activity of their own. */
  readonly longs: readonly string[];
  /** Instants of armed timers by the workflow's clock, epoch milliseconds; the server's are a little later. */
  readonly timers: readonly number[];
  readonly end: 'open' | 'continued' | 'over';
}

export interface ObserverSinks extends Sinks {
  observer: {
    /** `number` counts within one run of the workflow. */
    step(number: number, record: StepRecord): void;
    note(note: Note): void;
  };
}
