/**
 * Projection rows as columns: what is searched apart, the whole row as JSON.
 * Owns the names of the columns; their order is the same for every row of a table. Must not write.
 */
import { isAtWork } from '../../core/sandbox/at-work.ts';
import {
  HOST_LOST,
  RUNTIME_GONE,
  type ConversationRow,
  type RunItemRow,
  type RunRow,
  type SandboxRow,
} from '../../core/machine/projection.ts';
import { columnText, flag } from '../sql/column-value.ts';

export function sandboxColumns(row: SandboxRow) {
  return {
    sandbox_id: row.sandboxId,
    user_id: row.userId,
    status: row.status,
    failed: flag(row.status === 'ERROR' || (row.status === 'MISSING' && wasLost(row))),
    available: flag(row.available),
    session_started_at: row.sessionStartedAt,
    created_at: row.createdAt,
    created_by: row.createdBy,
    generation: row.generation,
    sequence: row.sequence,
    body: JSON.stringify(row),
  };
}

/** Its end was not asked for. */
function wasLost({ detail }: SandboxRow): boolean {
  return detail === RUNTIME_GONE || detail === HOST_LOST;
}

export function titleColumn({ title }: ConversationRow): string {
  return columnText(title ?? '');
}

export function conversationColumns(row: ConversationRow) {
  return {
    conversation_id: row.conversationId,
    user_id: row.userId,
    run_id: row.runId,
    sandbox_id: row.sandboxId,
    at_work: flag(isAtWork(row)),
    failed: flag(row.startTask === 'ERROR'),
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    title: titleColumn(row),
    sandbox_status: row.sandboxStatus ?? '',
    execution_status: row.executionStatus ?? '',
    generation: row.generation,
    sequence: row.sequence,
    body: JSON.stringify(row),
  };
}

export function runColumns(row: RunRow) {
  return {
    run_id: row.runId,
    user_id: row.userId ?? 'local',
    created_at: row.createdAt,
    generation: row.generation,
    sequence: row.sequence,
    body: JSON.stringify(row),
  };
}

export function runItemColumns(row: RunItemRow) {
  return {
    run_id: row.runId,
    key: row.key,
    sandbox_id: row.sandboxId,
    generation: row.generation,
    sequence: row.sequence,
    body: JSON.stringify(row),
  };
}
