/**
 * The conversation machine: from the start request to the tombstone as one pure step.
 * Owns the entry points a driver and an edge use; the rules are in the transition table.
 */
import type { ErrorCode } from '../error-catalogue.ts';
import { stay, type Machine, type Step } from '../machine/machine.ts';
import type { ConversationRow } from '../machine/projection.ts';
import type { ConversationSnapshot } from '../machine/snapshot.ts';
import type { SandboxStatus, StartTaskStatus } from '../status.ts';
import { earliest } from '../time.ts';
import { runCell } from '../machine/transition-table.ts';
import { playStep, type Identified, type StepOptions } from '../machine/step-context.ts';
import type { ConversationEvent, ConversationOrder } from './message.ts';
import { begin } from './start.ts';
import { initConversation, type ConversationState, conversationSnapshot } from './state.ts';
import { CONVERSATION_TABLE } from './table.ts';
import { isOver, sendToSandbox, type ConversationContext } from './conversation-context.ts';

/** After every step that changed something: count, project, and notify the watcher. */
function settleConversation(before: ConversationState, context: ConversationContext): void {
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

export type ConversationCommand = Identified<ConversationOrder>;

/** Null before the first event; only `started` creates the conversation. */
export const conversationMachine: Machine<ConversationState | null, ConversationEvent, ConversationCommand> =
  {
    name: 'conversation',
    step: stepConversation,
    deadline: (state) => (state === null ? null : earliest(state.startDeadline, state.recheckAt)),
    done: (state) => state !== null && state.phase === 'deleted',
    rests: (state) => state !== null && isReadOnlyForGood(state),
    clockSet: conversationClockSet,
  };

function stepConversation(
  state: ConversationState | null,
  event: ConversationEvent,
  now: number,
): Step<ConversationState | null, ConversationCommand> {
  if (state === null) return event.type === 'started' ? init(event, now) : stay(state);
  return playStep(state, now, STEP, (context) => runCell(CONVERSATION_TABLE, state.phase, context, event));
}

/** A start has as long left as before; a rate limit is over when its endpoint said, by the wall clock (D36). */
function conversationClockSet(state: ConversationState | null, byMs: number): ConversationState | null {
  if (state === null || state.startDeadline === null) return state;
  return { ...state, startDeadline: state.startDeadline + byMs };
}

/** What can still come is a deletion, other metadata, and messages to refuse. */
function isReadOnlyForGood({
  phase,
  awaiting,
  attachRequestId,
  sandboxId,
  sandbox,
}: ConversationState): boolean {
  if (phase === 'deleted') return true;
  if (awaiting !== null || attachRequestId !== null) return false;
  // A start that failed still shows what becomes of its sandbox.
  return phase === 'readOnly' || (phase === 'startFailed' && (sandboxId === null || isOver(sandbox)));
}

function init(
  event: Extract<ConversationEvent, { type: 'started' }>,
  now: number,
): Step<ConversationState, ConversationCommand> {
  const created = initConversation(event.spec, event.watcher, now);
  return playStep(created, now, STEP, begin);
}

const STEP: StepOptions<ConversationState, ConversationOrder> = {
  prefixOf: (state) => `conversation/${state.spec.conversationId}`,
  copy: (state) => ({ ...state }),
  settle: settleConversation,
};

/** What an edge answers to a message before it sends it on; null when it will be queued or delivered (D8). */
export function messageRefusal(record: {
  readonly startTask: StartTaskStatus;
  readonly sandboxStatus: SandboxStatus | null;
}): ErrorCode | null {
  if (record.sandboxStatus === 'ERROR' || record.startTask === 'ERROR') return 'sandbox_error';
  if (record.sandboxStatus === 'MISSING') return 'sandbox_missing';
  return record.startTask === 'READY' ? null : 'sandbox_starting';
}
