/**
 * The rows of a run and of its items: what queries read.
 * Owns their fields; when they are written is decided by the run or shard that has the item.
 */
import type { ConversationId } from '../../ids.ts';
import type { RunItemRow, RunRow } from '../../machine/projection.ts';
import { itemsByPhase } from '../items-by-phase.ts';
import { countForgiven, type Copy } from './whole-items.ts';
import { isInFlight, type RunItem, type RunState } from '../state.ts';

/** Of the items at these positions. */
export function itemRows(state: RunState, positions: readonly number[]): readonly RunItemRow[] {
  return positions.map((position) => itemRow(state, state.items[position] as RunItem));
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
    ...(item.waitsFor === undefined ? {} : { waitsFor: item.waitsFor }),
    ...(state.rules.pool === undefined ? {} : { left: leftPlaces(item) }),
  };
}

/** A conversation of an earlier attempt, or of one that is over, gives its place to others with this very write. */
function leftPlaces(item: RunItem): readonly ConversationId[] {
  const { past, conversationId } = item;
  return conversationId === null || isInFlight(item) ? past : [...past, conversationId];
}

export function runRow(state: RunState): RunRow {
  const { waiting, inFlight, ended } = itemsByPhase(state);
  const forgiven = forgivenIn(state);
  return {
    table: 'run',
    runId: state.runId,
    userId: state.userId,
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
    ...(forgiven === 0 ? {} : { forgiven }),
    spentNanoUsd: state.spentNanoUsd,
    ...budgetOf(state),
    createdAt: state.createdAt,
    endedAt: state.endedAt,
    reconciliation: state.reconciliation,
  };
}

function budgetOf({ rules: { budget } }: RunState): Pick<RunRow, 'budget'> {
  if (budget === null) return {};
  const { nanoUsd, reserveNanoUsd, mode } = budget;
  return { budget: { nanoUsd, reserveNanoUsd, mode } };
}

/** A pass over all items, so only once all have ended; before, a failure may still be forgiven. */
function forgivenIn({ phase, items }: RunState): number {
  if (phase === 'running' || !items.some(({ whole }) => whole !== undefined)) return 0;
  return countForgiven(items.map(copyOf));
}

function copyOf({ phase, ending, whole }: RunItem): Copy {
  const outcome = phase === 'ended' ? (ending?.outcome ?? null) : null;
  return whole === undefined ? { outcome } : { outcome, whole };
}

/** While a run goes on: what keeps the next item from beginning. */
function limitInForce({ phase, pace }: RunState): string | null {
  return phase === 'running' ? (pace?.heldBy ?? null) : null;
}
