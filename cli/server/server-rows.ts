/**
 * Runs of a service as the rows that every view of a run takes.
 * Owns the way back from the wire, which has the same facts under other names.
 */
import type { RunItemRecord, RunRecord } from '../../api/runs/run-record.ts';
import { conversationId, runId, sandboxId, userId } from '../../core/ids.ts';
import type { RunItemRow, RunRow } from '../../core/machine/projection.ts';

export function rowOfRun(record: RunRecord): RunRow {
  const { reconciliation } = record;
  return {
    table: 'run',
    runId: runId(record.id),
    userId: userId(record.user_id),
    generation: 0,
    sequence: 0,
    name: record.name,
    planHash: record.plan_hash,
    phase: record.phase,
    mode: record.mode,
    reason: record.reason,
    total: record.total,
    waiting: record.waiting,
    inFlight: record.in_flight,
    ended: record.ended,
    spentNanoUsd: record.spent_nano_usd,
    createdAt: Date.parse(record.created_at),
    endedAt: instantOf(record.ended_at),
    reconciliation:
      reconciliation === null
        ? null
        : {
            rows: reconciliation.rows,
            totalNanoUsd: reconciliation.total_nano_usd,
            assignedNanoUsd: reconciliation.assigned_nano_usd,
            ambiguousNanoUsd: reconciliation.ambiguous_nano_usd,
            unassignedNanoUsd: reconciliation.unassigned_nano_usd,
            withinTolerance: reconciliation.within_tolerance,
          },
  };
}

export function rowOfItem(id: RunRow['runId'], record: RunItemRecord): RunItemRow {
  return {
    table: 'run_item',
    runId: id,
    generation: 0,
    sequence: 0,
    key: record.key,
    phase: record.phase,
    attempt: record.attempt,
    conversationId: record.conversation_id === null ? null : conversationId(record.conversation_id),
    sandboxId: record.sandbox_id === null ? null : sandboxId(record.sandbox_id),
    sandboxStatus: record.sandbox_status,
    executionStatus: record.execution_status,
    outcome: record.outcome as RunItemRow['outcome'],
    failureClass: record.failure_class as RunItemRow['failureClass'],
    detail: record.detail,
    costNanoUsd: record.cost_nano_usd,
    admittedAt: instantOf(record.admitted_at),
    endedAt: instantOf(record.ended_at),
  };
}

function instantOf(text: string | null): number | null {
  return text === null ? null : Date.parse(text);
}
