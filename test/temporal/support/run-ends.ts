/** How the items of a run, and the run, come to their end where nothing is collected. Owns the answers. */
import type { Overrides } from '../../engine/fake-activities.ts';
import { SUMMARY } from '../../core/run-life.ts';

export const RUN_ENDS = {
  collectItem: ({ id: commandId, index }) => ({ type: 'itemCollected', commandId, index, costNanoUsd: 1 }),
  reconcileRun: ({ id: commandId }) => ({ type: 'runReconciled', commandId, summary: SUMMARY }),
  reportRun: ({ id: commandId }) => ({ type: 'runReported', commandId }),
} satisfies Overrides;
