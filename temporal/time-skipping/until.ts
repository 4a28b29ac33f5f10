/** Waiting in real time for what the server does by itself. Owns the patience of the stage. */
import type { WorkflowClient } from '@temporalio/client';

/** `PENDING_ACTIVITY_STATE_STARTED` of the API. */
const TRY_STARTED = 2;
/** How often it is asked whether everything is settled, in real time. */
export const LOOK_EVERY_MS = 2;
/** Real time that settling may take on a machine that is busy with other tests. */
export const SETTLE_MAX_MS = 30_000;

/** Until the server has heard that no try of the workflow is being made. */
export function untilNoneRuns(client: WorkflowClient, workflowId: string): Promise<void> {
  return until(async () => {
    const { raw } = await client.getHandle(workflowId).describe();
    return (raw.pendingActivities ?? []).every(({ state }) => state !== TRY_STARTED);
  });
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + SETTLE_MAX_MS;
  while (!(await isSo()) && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
}
