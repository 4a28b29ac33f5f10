/** Waiting in real time for what the server does by itself. Owns the patience of the stage. */
import type { WorkflowClient } from '@temporalio/client';
import type { Place } from './held-tries.ts';

/** How often it is asked whether everything is settled, in real time. */
export const LOOK_EVERY_MS = 2;
/** Real time that settling may take on a machine that is busy with other tests. */
export const SETTLE_MAX_MS = 30_000;

/**
 * Until the server has heard that tries of a workflow's activities are over. It forgets activities that ended; of one
 * that waits for its next try it says that it is under way.
 */
export function untilForgotten(
  client: WorkflowClient,
  workflowId: string,
  tries: readonly Place[],
): Promise<void> {
  return until(async () => {
    const { raw } = await client.getHandle(workflowId).describe();
    const pending = new Set((raw.pendingActivities ?? []).map(({ activityId }) => activityId));
    return !tries.some(({ activityId }) => pending.has(activityId));
  });
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + SETTLE_MAX_MS;
  while (!(await isSo()) && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
}
