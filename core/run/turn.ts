/**
 * Moves that several parts of a run share: changing an item, telling, projecting.
 * Owns no decision about items or phases.
 */
import type { ConversationEvent } from '../conversation/message.ts';
import type { RunItemRow, RunRow } from '../projection.ts';
import type { Outcome } from '../status.ts';
import type { Turn } from '../turn.ts';
import type { RunOrder } from './message.ts';
import { countBy, isInFlight, type RunItem, type RunState } from './state.ts';

export type RunTurn = Turn<RunState, RunOrder>;

export function changeItem(turn: RunTurn, index: number, change: Partial<RunItem>): RunItem | null {
  const item = turn.state.items[index];
  if (item === undefined) return null;
  const changed = { ...item, ...change };
  turn.state.items = turn.state.items.with(index, changed);
  return changed;
}

/** The item whose command this answers; null when the answer is late. */
export function awaitingItem(
  { state }: RunTurn,
  answer: { readonly index: number; readonly commandId: string },
): RunItem | null {
  const item = state.items[answer.index];
  return item?.awaiting === answer.commandId ? item : null;
}

export function itemOrder({ state }: RunTurn, index: number, item: RunItem) {
  return { runId: state.runId, index, key: item.key, attempt: item.attempt };
}

export function tellConversation(turn: RunTurn, item: RunItem, event: ConversationEvent): void {
  if (item.conversationId === null) return;
  turn.order({ type: 'tell', to: { machine: 'conversation', id: item.conversationId }, event });
}

/** Unique because the command count never repeats. */
export function newRequestId({ state }: RunTurn): string {
  return `run/${state.runId}?${state.commandCount}`;
}

/** After every turn that changed something: count, and project the run with the items that changed. */
export function settleRun(before: RunState, turn: RunTurn): void {
  const { state } = turn;
  state.sequence += 1;
  const rows: (RunRow | RunItemRow)[] = [runRow(state)];
  for (const [index, item] of state.items.entries()) {
    if (item !== before.items[index] || before.sequence === 0) rows.push(itemRow(state, item));
  }
  turn.order({ type: 'project', rows });
}

function itemRow(state: RunState, item: RunItem): RunItemRow {
  return {
    table: 'run_item',
    runId: state.runId,
    key: item.key,
    generation: 0,
    sequence: state.sequence,
    phase: item.phase,
    attempt: item.attempt,
    conversationId: item.conversationId,
    sandboxId: item.sandboxId,
    sandboxStatus: item.sandboxStatus,
    executionStatus: item.executionStatus,
    outcome: item.phase === 'ended' ? (item.ending?.outcome ?? null) : null,
    failureClass: item.ending?.failureClass ?? null,
    detail: item.ending?.detail ?? null,
    costNanoUsd: item.attempt === 0 ? null : item.costNanoUsd,
    admittedAt: item.admittedAt,
    endedAt: item.endedAt,
  };
}

function runRow(state: RunState): RunRow {
  const ended: Partial<Record<Outcome, number>> = {};
  for (const { phase, ending } of state.items) {
    if (phase === 'ended' && ending !== null) ended[ending.outcome] = (ended[ending.outcome] ?? 0) + 1;
  }
  return {
    table: 'run',
    runId: state.runId,
    generation: 0,
    sequence: state.sequence,
    name: state.name,
    planHash: state.planHash,
    phase: state.phase,
    mode: state.mode,
    reason: state.reason,
    total: state.items.length,
    waiting: countBy(state.items, (item) => item.phase === 'waiting'),
    inFlight: countBy(state.items, isInFlight),
    ended,
    spentNanoUsd: state.spentNanoUsd,
    createdAt: state.createdAt,
    endedAt: state.endedAt,
    reconciliation: state.reconciliation,
  };
}
