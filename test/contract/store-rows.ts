/**
 * Made-up rows and batches for the tests of the store.
 * Owns their defaults; a test names only what it is about.
 */
import {
  conversationId,
  runId,
  sandboxId,
  userId,
  type ConversationId,
  type EntityAddress,
  type SandboxId,
} from '../../core/ids.ts';
import { nanoUsd } from '../../core/money/money.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { ConversationRow, RunItemRow, RunRow, SandboxRow } from '../../core/machine/projection.ts';
import type { SpendRow } from '../../core/money/spend.ts';
import type { CommitBatch, InboxEntry, OutboxEntry, StoredEntity } from '../../ports/engine-store.ts';
import type { PlaceRequest } from '../../ports/placement-store.ts';

export const USER = userId('ada');
export const RUN = runId('run-1');
export const NOW = 1_784_900_000_000;

const hex = (prefix: string, index: number): string => `${prefix}${index.toString(16).padStart(31, '0')}`;
export const sandboxNumber = (index: number): SandboxId => sandboxId(hex('5', index));
export const conversationNumber = (index: number): ConversationId => conversationId(hex('c', index));

export function sandboxRow(id: SandboxId, changes: Partial<SandboxRow> = {}): SandboxRow {
  return {
    table: 'sandbox',
    sandboxId: id,
    userId: USER,
    generation: 1,
    sequence: 1,
    status: 'RUNNING',
    pauseReason: null,
    transition: null,
    detail: null,
    stale: false,
    createdAt: NOW,
    createdBy: 'placement',
    sessionStartedAt: NOW,
    releasedAt: null,
    available: true,
    holdsSlot: true,
    archive: 'none',
    ...changes,
  };
}

export function conversationRow(id: ConversationId, changes: Partial<ConversationRow> = {}): ConversationRow {
  return {
    table: 'conversation',
    conversationId: id,
    userId: USER,
    generation: 1,
    sequence: 1,
    runId: null,
    key: null,
    sandboxId: null,
    sandboxStatus: null,
    startTask: 'READY',
    startTaskDetail: null,
    executionStatus: 'FINISHED',
    executionStatusAt: NOW,
    queuedMessages: 0,
    selectedRepository: null,
    selectedBranch: null,
    model: null,
    title: 'A \u0000 title with a half pair \ud800',
    tags: { team: 'blue' },
    createdAt: NOW,
    updatedAt: NOW,
    ...changes,
  };
}

export function runRow(changes: Partial<RunRow> = {}): RunRow {
  return {
    table: 'run',
    runId: RUN,
    generation: 1,
    sequence: 1,
    name: 'a run',
    planHash: 'abc',
    phase: 'running',
    mode: 'normal',
    reason: null,
    total: 1,
    waiting: 0,
    inFlight: 1,
    ended: {},
    spentNanoUsd: Number.MAX_SAFE_INTEGER,
    createdAt: NOW,
    endedAt: null,
    reconciliation: null,
    ...changes,
  };
}

export function runItemRow(key: string, changes: Partial<RunItemRow> = {}): RunItemRow {
  return {
    table: 'run_item',
    runId: RUN,
    key,
    generation: 1,
    sequence: 1,
    phase: 'working',
    attempt: 1,
    conversationId: null,
    sandboxId: null,
    sandboxStatus: null,
    executionStatus: null,
    outcome: null,
    failureClass: null,
    detail: null,
    costNanoUsd: null,
    admittedAt: NOW,
    endedAt: null,
    ...changes,
  };
}

export function spendRow(callId: string, changes: Partial<SpendRow> = {}): SpendRow {
  return {
    callId,
    state: 'succeeded',
    startedAt: NOW,
    endedAt: NOW + 10,
    route: '/v1/chat/completions',
    modelName: 'small',
    upstreamModel: 'openai/small',
    streamed: true,
    httpStatus: 200,
    responseId: 'chatcmpl-1',
    sessionId: conversationNumber(1),
    user: 'ada',
    keyName: 'batch',
    promptTokens: 12,
    completionTokens: 34,
    cachedTokens: null,
    cost: nanoUsd(123),
    costSource: 'entry',
    metadata: { attempt: 'a-1' },
    ...changes,
  };
}

export function plan(hash: string): Plan {
  return { format: 1, name: 'a plan', items: [], hash } as unknown as Plan;
}

export function entity(address: EntityAddress, changes: Partial<StoredEntity> = {}): StoredEntity {
  return { address, state: { phase: 'running' }, deadline: null, done: false, ...changes };
}

export function outboxEntry(commandId: string, changes: Partial<OutboxEntry> = {}): OutboxEntry {
  return {
    commandId,
    sender: { machine: 'sandbox', id: sandboxNumber(1) },
    command: { type: 'startSandbox', text: 'a \u0000 b' },
    createdAt: NOW,
    attempt: 0,
    notBefore: NOW,
    ...changes,
  };
}

export function inboxEntry(inboxId: string, changes: Partial<InboxEntry> = {}): InboxEntry {
  return {
    inboxId,
    to: { machine: 'conversation', id: conversationNumber(1) },
    event: { type: 'pauseRequested' },
    acceptedAt: NOW,
    ...changes,
  };
}

export function batch(changes: Partial<CommitBatch>): CommitBatch {
  return {
    entities: [],
    outboxAdded: [],
    outboxRetried: [],
    outboxRemoved: [],
    inboxAdded: [],
    inboxRemoved: [],
    projections: [],
    ...changes,
  };
}

export const LIMITS = { installationMax: 100, userMax: 10, conversationsPerSandboxMax: 20 } as const;

/** A start of conversation `index` that would get sandbox `index` if it needs a new one. */
export function placeRequest(index: number, changes: Partial<PlaceRequest> = {}): PlaceRequest {
  return {
    conversationId: conversationNumber(index),
    userId: USER,
    strategy: 'ADD_TO_ANY',
    sandboxId: null,
    excluded: [],
    newSandboxId: sandboxNumber(index),
    limits: LIMITS,
    now: NOW,
    ...changes,
  };
}
