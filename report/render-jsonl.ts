/**
 * A report as JSON lines: one record for each item, in the order of the plan.
 * Pure; owns the record's fields, whose amounts are integer nano-USD.
 */
import type { SpendLoss } from '../core/money/spend-loss.ts';
import type { ReportData, ReportItem } from './report-data.ts';
import { billedByKey, workMs, type BilledSums } from './work-sections.ts';

export function renderJsonl(data: ReportData): string {
  const billed = billedByKey(data);
  return data.items
    .map((item) => `${JSON.stringify(record(data, item, billed?.get(item.key) ?? null))}\n`)
    .join('');
}

function record({ run, spendLost }: ReportData, item: ReportItem, billed: BilledSums | null) {
  const { key, entry, matrix, tags, model, agent, row, spend } = item;
  const { files, findings, check, scores, delivery, whole } = item;
  return {
    run_id: run.runId,
    plan_hash: run.planHash,
    key,
    entry,
    matrix,
    tags,
    model,
    ...(agent === undefined ? {} : { agent }),
    phase: row?.phase ?? 'waiting',
    outcome: row?.outcome ?? null,
    failure_class: row?.failureClass ?? null,
    detail: row?.detail ?? null,
    execution_status: row?.executionStatus ?? null,
    attempts: row?.attempt ?? 0,
    conversation_id: row?.conversationId ?? null,
    sandbox_id: row?.sandboxId ?? null,
    admitted_at: iso(row?.admittedAt ?? null),
    ended_at: iso(row?.endedAt ?? null),
    duration_ms: workMs(row),
    calls: spend.calls,
    unpriced_calls: spend.unpriced,
    prompt_tokens: spend.promptTokens,
    completion_tokens: spend.completionTokens,
    // Null when every call is unpriced: an unknown amount is not 0 (D26).
    spent_nano_usd: spend.calls > 0 && spend.unpriced === spend.calls ? null : spend.nanoUsd,
    billed_nano_usd: billed?.assigned ?? null,
    estimated_nano_usd: billed?.estimated ?? null,
    ...(spendLost === null ? {} : { spend_lost: lossFields(spendLost) }),
    files: files.map(({ name }) => name),
    findings,
    check,
    ...(scores.length === 0 ? {} : { scores }),
    delivery: delivery === null ? null : deliveryFields(delivery),
    ...(whole === undefined ? {} : { whole }),
  };
}

function deliveryFields({ pullRequest, ...branch }: NonNullable<ReportItem['delivery']>) {
  return { ...branch, ...(pullRequest === null ? {} : { pull_request: pullRequest }) };
}

/** Of the whole run: every record warns readers that sums of amounts may be too small. */
function lossFields({ calls, costNanoUsd, from, to, mayBeMore, seenAt }: SpendLoss) {
  return {
    calls,
    cost_nano_usd: costNanoUsd,
    from: iso(from),
    to: iso(to),
    may_be_more: mayBeMore,
    seen_at: iso(seenAt),
  };
}

function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
