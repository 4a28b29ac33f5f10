/**
 * Moves that several parts of a run share: changing an item, telling, projecting.
 * Owns no decision about items or phases.
 */
import type { ConversationEvent } from '../conversation/message.ts';
import type { RunItemRow, RunRow } from '../projection.ts';
import type { Turn } from '../turn.ts';
import type { RunOrder } from './message.ts';
import { standingAfter, standingOf } from './standing.ts';
import type { RunItem, RunState } from './state.ts';

export type RunTurn = Turn<RunState, RunOrder>;

export function changeItem(turn: RunTurn, index: number, change: Partial<RunItem>): RunItem | null {
  const { state } = turn;
  const item = state.items[index];
  if (item === undefined) return null;
  const changed = { ...item, ...change };
  const before = standingOf(state);
  state.items = state.items.with(index, changed);
  state.standing = standingAfter(before, state.items, index, item);
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
  const { items } = state;
  const were = before.sequence === 0 ? [] : before.items;
  // By index and by identity alone: of a thousand items one has changed.
  for (let index = 0; items !== were && index < items.length; index += 1) {
    const item = items[index] as RunItem;
    if (item !== were[index]) rows.push(itemRow(state, item));
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

/** While a run goes on: what keeps the next item from beginning. */
function limitInForce({ phase, pace }: RunState): string | null {
  return phase === 'running' ? (pace?.heldBy ?? null) : null;
}

function runRow(state: RunState): RunRow {
  const { waiting, inFlight, ended } = standingOf(state);
  return {
    table: 'run',
    runId: state.runId,
    generation: 0,
    sequence: state.sequence,
    name: state.name,
    planHash: state.planHash,
    phase: state.phase,
    mode: state.mode,
    reason: state.reason ?? limitInForce(state),
    total: state.items.length,
    waiting: waiting.length,
    inFlight: inFlight.length,
    ended,
    spentNanoUsd: state.spentNanoUsd,
    createdAt: state.createdAt,
    endedAt: state.endedAt,
    reconciliation: state.reconciliation,
  };
}
