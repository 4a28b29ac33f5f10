/**
 * Histories as the server has them, over all runs of a workflow.
 * Owns reading and naming of events; every event counts.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { WorkflowClient } from '@temporalio/client';

type History = Awaited<ReturnType<ReturnType<WorkflowClient['getHandle']>['fetchHistory']>>;
export type HistoryEvent = NonNullable<History['events']>[number];

/** A history that does not grow for so long is at rest: everything a step causes follows within milliseconds. */
const AT_REST_MS = 700;
const POLL_EVERY_MS = 100;
/** On a busy machine a step may take long; a history that never rests is a fault of the part. */
const AT_REST_MS_MAX = 60_000;

/** Types of all events, oldest first, over all runs. */
export async function eventsOf(client: WorkflowClient, workflowId: string): Promise<readonly string[]> {
  const events: string[] = [];
  let runId: string | undefined = (await client.getHandle(workflowId).describe()).runId;
  while (runId !== undefined && runId !== '') {
    const history: History = await client.getHandle(workflowId, runId).fetchHistory();
    const found = history.events ?? [];
    events.unshift(...found.map(nameOf));
    runId = found[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
  }
  return events;
}

/** The same, once none of them grows any more. */
export async function eventsAtRest(
  client: WorkflowClient,
  workflowIds: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const untilMs = Date.now() + AT_REST_MS_MAX;
  let lengths = '';
  let since = Date.now();
  for (;;) {
    const histories = await Promise.all(workflowIds.map((id) => eventsOf(client, id)));
    const now = histories.map(({ length }) => length).join();
    if (now !== lengths) since = Date.now();
    lengths = now;
    if (Date.now() - since >= AT_REST_MS) return histories;
    if (Date.now() > untilMs) throw new Error('Cannot count events: the histories go on growing');
    await pause(POLL_EVERY_MS);
  }
}

/** Every event carries the attributes of its own type and no others. */
export function nameOf(event: HistoryEvent): string {
  const suffix = 'EventAttributes';
  const fields = Object.entries(event).filter(([name, value]) => name.endsWith(suffix) && value != null);
  return fields[0]?.[0].slice(0, -suffix.length) ?? 'unknown';
}
