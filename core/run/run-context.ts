/**
 * Moves that several parts of a run share: changing an item, ordering, sending.
 * Owns no decision about items or phases.
 */
import type { ConversationEvent } from '../conversation/message.ts';
import { addressKey, type SandboxId } from '../ids.ts';
import type { StepContext } from '../machine/step-context.ts';
import type { RunOrder } from './message.ts';
import { shardAddress } from './shards.ts';
import { itemsByPhaseAfter, itemsByPhase } from './items-by-phase.ts';
import { itemAt, positionOf, type RunItem, type RunState } from './state.ts';
import type { UsedSandbox } from './items/used-sandbox.ts';

export type RunContext = StepContext<RunState, RunOrder>;

export function changeItem(context: RunContext, index: number, change: Partial<RunItem>): RunItem | null {
  const { state } = context;
  const item = itemAt(state, index);
  if (item === undefined) return null;
  const changed = { ...item, ...change };
  const before = itemsByPhase(state);
  const position = positionOf(state, index);
  state.items = state.items.with(position, changed);
  state.byPhase = itemsByPhaseAfter(before, state.items, position, item);
  return changed;
}

/** What the run remembers of a sandbox; one that it does not know stays unknown. */
export function changeSandbox({ state }: RunContext, id: SandboxId, change: Partial<UsedSandbox>): void {
  // From the end: most notices are about new sandboxes.
  const index = state.sandboxes.findLastIndex(({ sandboxId }) => sandboxId === id);
  const used = state.sandboxes[index];
  if (used !== undefined) state.sandboxes = state.sandboxes.with(index, { ...used, ...change });
}

/** The item whose command this answers; null when the answer is late. */
export function awaitingItem(
  { state }: RunContext,
  answer: { readonly index: number; readonly commandId: string },
): RunItem | null {
  const item = itemAt(state, answer.index);
  return item?.awaiting === answer.commandId ? item : null;
}

export function itemOrder({ state }: RunContext, index: number, item: RunItem) {
  const { key, attempt, plan } = item;
  return { runId: state.runId, index, key, attempt, ...(plan === undefined ? {} : { plan }) };
}

export function sendToConversation(context: RunContext, item: RunItem, event: ConversationEvent): void {
  if (item.conversationId === null) return;
  context.order({ type: 'send', to: { machine: 'conversation', id: item.conversationId }, event });
}

/** Unique because the command count never repeats. */
export function newRequestId({ state }: RunContext): string {
  return `${hostKey(state)}?${state.commandCount}`;
}

/** Of the run, or of the shard that has these items. */
export function hostKey({ runId, slice }: RunState): string {
  return slice === undefined ? `run/${runId}` : addressKey(shardAddress(runId, slice.number));
}
