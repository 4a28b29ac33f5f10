/** The outer side of the observers: steps once each, notes as they come. */
import type { InjectedSinks } from '@temporalio/worker';
import type { StepRecord } from '../../workflows/entity.ts';
import type { Note, ObserverSinks } from './observer-sinks.ts';

/** Sinks may be called again for the same step: the number of a step in its run tells. */
export function sinksOf(
  hear: (workflowId: string, runId: string, note: Note) => Promise<void>,
  onStep: (step: StepRecord) => void,
): InjectedSinks<ObserverSinks> {
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
      note: { fn: ({ workflowId, runId }, note) => hear(workflowId, runId, note) },
    },
  };
}
