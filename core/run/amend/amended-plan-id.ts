/**
 * Where the plan of a run is kept once it was amended: plans are immutable, so every amended one is one more.
 * Owns the id; the plan that a run was begun with is kept under the id of the run itself.
 */
import { runId as asRunId, type RunId } from '../../ids.ts';

/** No run has such an id. */
export function amendedPlanId(runId: RunId, planHash: string): RunId {
  return asRunId(`${runId}@${planHash}`);
}
