/**
 * What workflows under observation report to the process around them.
 * Owns the shapes only.
 */
import type { InjectedSinks } from '@temporalio/worker';
import type { Sinks } from '@temporalio/workflow';
import type { StepRecord } from '../../../workflows/entity.ts';
import type { Envelope } from '../../../workflows/envelope.ts';

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
  /** Leaving: nothing is begun any more, and the run is continued as new when what is under way has ended. */
  readonly end: 'open' | 'leaving' | 'continued' | 'over';
}

export interface ObserverSinks extends Sinks {
  observer: {
    /** `number` counts within one run of the workflow. */
    step(number: number, record: StepRecord): void;
    note(note: Note): void;
    /** An envelope that came while the run was leaving: the next one has to receive it. */
    late(envelope: Envelope): void;
  };
}

interface Hearing {
  readonly onStep: (step: StepRecord) => void;
  readonly onNote: (workflowId: string, runId: string, note: Note) => Promise<void>;
  readonly onLate: (workflowId: string, envelope: Envelope) => void;
}

/** Sinks may be called again for the same step, which the number of the step in its run shows. */
export function sinksOf({ onStep, onNote, onLate }: Hearing): InjectedSinks<ObserverSinks> {
  const taken = new Map<string, number>();
  return {
    observer: {
      step: {
        fn({ runId }, number, record) {
          if (number <= (taken.get(runId) ?? 0)) return;
          taken.set(runId, number);
          onStep(record);
        },
      },
      late: { fn: ({ workflowId }, envelope) => onLate(workflowId, envelope) },
      note: { fn: ({ workflowId, runId }, note) => onNote(workflowId, runId, note) },
    },
  };
}
