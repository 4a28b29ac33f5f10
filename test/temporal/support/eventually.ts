/**
 * Waiting for what a server, workers and a store do in their own time.
 * Owns how long a busy machine may take; a condition that never comes is a failure with the last value seen.
 */
import { expect } from 'vitest';
import type { ConversationRow } from '../../../core/machine/projection.ts';
import type { ConversationId } from '../../../core/ids.ts';
import type { Deployment } from './deployment.ts';

/** Longest for a test. */
export const SLOW_MS = 600_000;
/** Longest for one condition: sooner than the test ends, so that its failure says which. */
const WAIT_MS = 180_000;
const INTERVAL_MS = 30;

/** Until `read` gives something equal to `wanted`. */
export async function eventually<Value>(read: () => Promise<Value> | Value, wanted: unknown): Promise<void> {
  await expect.poll(read, { timeout: WAIT_MS, interval: INTERVAL_MS }).toEqual(wanted);
}

/** Until the record of the conversation has these fields. */
export async function untilConversation(
  { store }: Pick<Deployment, 'store'>,
  id: ConversationId,
  fields: Partial<ConversationRow>,
): Promise<void> {
  await eventually(() => store.records.conversation(id), expect.objectContaining(fields));
}

/** Until the workflow of that id has ended, as a workflow that did its work. */
export async function untilEnded({ client }: Pick<Deployment, 'client'>, workflowId: string): Promise<void> {
  await eventually(async () => (await client.getHandle(workflowId).describe()).status.name, 'COMPLETED');
}
