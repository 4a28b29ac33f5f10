/**
 * A start task as clients poll it (spec "Start task", D18).
 * Owns the shape; where the start stands is read from the conversation's own record.
 */
import { z } from 'zod';
import type { ConversationRow } from '../../core/machine/projection.ts';
import type { StartTaskStatus } from '../../core/status.ts';
import type { StartTask } from '../../ports/start-tasks.ts';
import type { Application } from '../application/application.ts';
import { hexId, instantOut, isoInstant } from '../application/wire.ts';
import { startTaskStatus } from '../application/words.ts';
import { agentUrl } from '../sandboxes/agent-url.ts';

export const startTaskSchema = z
  .object({
    id: hexId,
    created_by_user_id: z.string(),
    status: startTaskStatus,
    detail: z.string().nullable().meta({ description: 'Why it ended in ERROR.' }),
    queue_position: z
      .int()
      .nullable()
      .meta({ description: 'Where it stands while it waits for a free slot, 1 for the next; else null.' }),
    app_conversation_id: hexId.nullable().meta({ description: 'Set at READY.' }),
    sandbox_id: z.string().nullable(),
    agent_server_url: z.string().nullable(),
    request: z.record(z.string(), z.unknown()),
    created_at: instantOut,
    updated_at: instantOut,
  })
  .meta({ id: 'StartTask' });
export type StartTaskRecord = z.output<typeof startTaskSchema>;

export async function startTaskRecords(
  application: Application,
  tasks: readonly (StartTask | null)[],
): Promise<(StartTaskRecord | null)[]> {
  const living = tasks.filter((task) => task !== null);
  const [first] = living;
  if (first === undefined) return tasks.map(() => null);
  const ids = living.map(({ conversationId }) => conversationId);
  const rows = await application.search.conversationsById(first.userId, ids);
  const rowOf = new Map(rows.flatMap((row) => (row === null ? [] : [[row.conversationId, row] as const])));
  const mayWait = living.some(({ conversationId: id }) => hasNoPlace(rowOf.get(id) ?? null));
  const positions = mayWait ? await positionsIn(application) : NO_POSITIONS;
  return tasks.map((task) => {
    if (task === null) return null;
    const { conversationId: id } = task;
    return recordOf(application, task, { row: rowOf.get(id) ?? null, position: positions.get(id) ?? null });
  });
}

const NO_POSITIONS: ReadonlyMap<string, number> = new Map();

function hasNoPlace(row: ConversationRow | null): boolean {
  return row?.startTask === 'WORKING' && row.sandboxId === null;
}

/** Where nobody waits, nothing is asked. */
function positionsIn({ world }: Application): Promise<ReadonlyMap<string, number>> | typeof NO_POSITIONS {
  const { onFull, capacity: limits } = world.deployment;
  return onFull === 'refuse' ? NO_POSITIONS : world.placement.positions({ limits, now: world.clock.now() });
}

const WITH_AGENT: ReadonlySet<StartTaskStatus> = new Set(['STARTING_CONVERSATION', 'READY']);

function recordOf(
  application: Application,
  task: StartTask,
  { row, position }: { readonly row: ConversationRow | null; readonly position: number | null },
): StartTaskRecord {
  const status = row?.startTask ?? 'WORKING';
  const sandboxId = status === 'WORKING' ? null : (row?.sandboxId ?? null);
  return {
    id: task.taskId,
    created_by_user_id: task.userId,
    status,
    detail: row?.startTaskDetail ?? null,
    queue_position: position,
    app_conversation_id: status === 'READY' ? task.conversationId : null,
    sandbox_id: sandboxId,
    agent_server_url:
      sandboxId !== null && WITH_AGENT.has(status) ? agentUrl(application, { sandboxId }) : null,
    request: task.request as Record<string, unknown>,
    created_at: isoInstant(task.createdAt),
    updated_at: isoInstant(row?.updatedAt ?? task.createdAt),
  };
}
