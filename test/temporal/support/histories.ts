/**
 * Histories of the entities of a test, over all their runs.
 * Owns the way back from the last run to the first; must not assert.
 */
import type { WorkflowClient } from '@temporalio/client';

export type History = Awaited<ReturnType<ReturnType<WorkflowClient['getHandle']>['fetchHistory']>>;

export interface RunOfWorkflow {
  readonly runId: string;
  readonly history: History;
}

/** Oldest first; the last one is the one that is open or ended. */
export async function runsOf(client: WorkflowClient, workflowId: string): Promise<readonly RunOfWorkflow[]> {
  const runs: RunOfWorkflow[] = [];
  let runId: string | undefined = (await client.getHandle(workflowId).describe()).runId;
  while (runId !== undefined && runId !== '') {
    const history: History = await client.getHandle(workflowId, runId).fetchHistory();
    runs.unshift({ runId, history });
    const begin = history.events?.[0]?.workflowExecutionStartedEventAttributes;
    runId = begin?.continuedExecutionRunId ?? undefined;
  }
  return runs;
}

/** Events of all runs. */
export async function eventsOf(client: WorkflowClient, workflowId: string): Promise<number> {
  return (await runsOf(client, workflowId)).reduce(
    (sum, { history }) => sum + (history.events?.length ?? 0),
    0,
  );
}
