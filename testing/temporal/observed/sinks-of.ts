/** The outer side of the observers: steps once each, notes as they come. */
import type { InjectedSinks } from '@temporalio/worker';
import type { StepRecord } from '../../../workflows/entity.ts';
import type { Envelope } from '../../../workflows/envelope.ts';
import type { Note, ObserverSinks } from './observer-sinks.ts';

export interface Hearing {
  readonly onStep: (step: StepRecord) => void;
  readonly onNote: (workflowId: string, runId: string, note: Note) => Promise<void>;
  readonly onLate: (workflowId: string, envelope: Envelope) => void;
}

/** Sinks may be called again for the same step: the number of a step in its run tells. */
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
