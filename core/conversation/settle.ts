/**
 * The end of every step of a conversation: it is counted and projected, and whoever watches is told what changed.
 * Owns what is news to a watcher; the moves of a phase are in conversation-context.ts.
 */
import type { ConversationRow } from '../machine/projection.ts';
import type { ConversationSnapshot } from '../machine/snapshot.ts';
import type { StartTaskStatus } from '../status.ts';
import { sendToSandbox, type ConversationContext } from './conversation-context.ts';
import { conversationSnapshot, type ConversationState } from './state.ts';

/** After every step that changed something: count, project, and tell whoever watches. */
export function settleConversation(before: ConversationState, context: ConversationContext): void {
  const { state } = context;
  state.sequence += 1;
  state.updatedAt = context.now;
  if (before.agentActivity !== state.agentActivity) noticeSandbox(context);
  if (state.phase !== 'deleted') context.order({ type: 'project', rows: [rowOf(state)] });
  if (state.watcher === null) return;
  const conversation = conversationSnapshot(state);
  if (isSame(conversationSnapshot(before), conversation)) return;
  context.order({ type: 'send', to: state.watcher, event: { type: 'conversationNoticed', conversation } });
}

/** A watcher waits for READY or ERROR; the steps in between are for the record, and would fill its inbox. */
function isSame(before: ConversationSnapshot, after: ConversationSnapshot): boolean {
  return (Object.keys(after) as (keyof ConversationSnapshot)[]).every((field) => {
    if (field === 'sequence') return true;
    if (field === 'startTask') return isFinal(before.startTask) === isFinal(after.startTask);
    return before[field] === after[field];
  });
}

const isFinal = (status: StartTaskStatus): boolean => status === 'READY' || status === 'ERROR';

function noticeSandbox(context: ConversationContext): void {
  const { state } = context;
  state.agentSequence += 1;
  sendToSandbox(context, {
    type: 'agentNoticed',
    conversationId: state.spec.conversationId,
    sequence: state.agentSequence,
    activity: state.agentActivity,
  });
}

function rowOf(state: ConversationState): ConversationRow {
  const { spec } = state;
  return {
    table: 'conversation',
    conversationId: spec.conversationId,
    generation: 0,
    sequence: state.sequence,
    userId: spec.userId,
    runId: spec.runId,
    key: spec.key,
    sandboxId: state.sandboxId,
    sandboxStatus: state.sandbox?.status ?? null,
    startTask: state.startTask,
    startTaskDetail: state.startTaskDetail ?? state.waitsFor ?? null,
    executionStatus: state.executionStatus,
    executionStatusAt: state.executionStatusAt,
    queuedMessages: state.queue.length,
    selectedRepository: spec.repository,
    selectedBranch: spec.branch,
    model: spec.model,
    title: spec.title,
    tags: spec.tags,
    ...(spec.codeHost === null ? {} : { codeHost: spec.codeHost }),
    ...(spec.nanoUsdMax === null ? {} : { nanoUsdMax: spec.nanoUsdMax }),
    ...(spec.observability === undefined ? {} : { observability: spec.observability }),
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
  };
}
