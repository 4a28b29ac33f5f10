/**
 * The conversation record as clients see it (spec "Conversation").
 * Owns the shape and how it is put together: the record, its sandbox as it is now, and the sums of its calls.
 */
import { z } from 'zod';
import type { ConversationId, UserId } from '../../core/ids.ts';
import type { ConversationRow, SandboxRow } from '../../core/machine/projection.ts';
import type { SandboxStatus } from '../../core/status.ts';
import type { ConversationUsage, FullConversation } from '../../ports/record-search.ts';
import type { Application } from '../application/application.ts';
import type { Dialect } from '../application/dialect.ts';
import { hexId, instantOut, isoInstant } from '../application/wire.ts';
import {
  pauseReason,
  sandboxStatus,
  spokenExecutionStatus,
  startTaskStatus,
  transition,
} from '../application/words.ts';
import { agentUrl } from '../sandboxes/sandbox-record.ts';

const usageSchema = z
  .object({
    model: z.string(),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    cache_read_tokens: z.int(),
    cache_write_tokens: z.int(),
    reasoning_tokens: z.int(),
    context_window: z.int(),
    per_turn_token: z.int(),
    response_id: z.string(),
  })
  .meta({ id: 'TokenUsage' });

const metricsSchema = z
  .object({
    model_name: z.string(),
    accumulated_cost: z.number().meta({ description: 'US dollars, from the rows of the proxy.' }),
    max_budget_per_task: z.number().nullable(),
    accumulated_token_usage: usageSchema.nullable(),
  })
  .meta({ id: 'ConversationMetrics' });

/** A conversation, as the API has it. */
export const conversationSchema = z
  .object({
    id: hexId,
    app_conversation_id: hexId,
    created_by_user_id: z.string(),
    sandbox_id: z.string().nullable(),
    sandbox_status: sandboxStatus,
    pause_reason: pauseReason.nullable(),
    transition: transition.nullable(),
    stale: z.boolean(),
    execution_status: spokenExecutionStatus.nullable(),
    execution_status_at: instantOut.nullable(),
    start_task_status: startTaskStatus,
    start_task_detail: z.string().nullable(),
    selected_repository: z.string().nullable(),
    selected_branch: z.string().nullable(),
    git_provider: z.string().nullable(),
    title: z.string(),
    trigger: z.string().nullable(),
    pr_number: z.array(z.int()),
    llm_model: z.string().nullable(),
    agent_kind: z.literal('openhands'),
    metrics: metricsSchema.nullable(),
    queued_messages: z.int(),
    run_id: z.string().nullable().meta({ description: 'The run of a job that it belongs to.' }),
    run_item: z.string().nullable().meta({ description: 'Key of its item in that run.' }),
    parent_conversation_id: z.string().nullable(),
    sub_conversation_ids: z.array(z.string()),
    public: z.boolean().nullable(),
    tags: z.record(z.string(), z.string()),
    created_at: instantOut,
    updated_at: instantOut,
    conversation_url: z.string().nullable(),
    session_api_key: z.string().nullable(),
  })
  .meta({ id: 'Conversation' });
export type ConversationRecord = z.output<typeof conversationSchema>;

/** Of a row that may be newer than what the store has of its conversation. */
export async function recordOfRow(
  application: Application,
  row: ConversationRow,
): Promise<ConversationRecord> {
  const [full = null] = await application.search.fullConversations(row.userId, [row.conversationId]);
  const { sandbox = null, usage = null } = full ?? {};
  // It may have been placed after the row was read.
  const isIts = sandbox !== null && sandbox.sandboxId === row.sandboxId;
  return recordOf(application, row, { sandbox: isIts ? sandbox : null, usage });
}

/** The caller's own by id, read in one go; null for each that is missing or another user's. */
export async function recordsById(
  application: Application,
  userId: UserId,
  ids: readonly ConversationId[],
): Promise<(ConversationRecord | null)[]> {
  const found = await application.search.fullConversations(userId, ids);
  return found.map((full) => (full === null ? null : recordOfFull(application, full)));
}

function recordOfFull(application: Application, full: FullConversation): ConversationRecord {
  return recordOf(application, full.row, full);
}

/** Its title, or a default where no title was set. */
export function titleOf({ title, conversationId }: ConversationRow): string {
  return title ?? `Conversation ${conversationId.slice(0, 5)}`;
}

interface Around {
  readonly sandbox: SandboxRow | null;
  readonly usage: ConversationUsage | null;
}

function recordOf(application: Application, row: ConversationRow, around: Around): ConversationRecord {
  return { ...lastingOf(application, row, around), ...reachOf(application, row, around) };
}

interface Written {
  readonly dialect: Dialect;
  readonly lasting: string;
  /** With nothing in reach. */
  readonly whole: string;
}

const WRITTEN = new WeakMap<FullConversation, Written>();

/**
 * As `JSON.stringify(recordOf(…))`. What follows from the store alone is written once for each time that it changes;
 * where the sandbox is reached is read each time, and its key is not kept.
 */
export function writtenRecord(application: Application, full: FullConversation): string {
  const { lasting, whole } = writtenOf(application, full);
  const reach = reachOf(application, full.row, full);
  return reach === OUT_OF_REACH ? whole : withReach(lasting, reach);
}

function writtenOf(application: Application, full: FullConversation): Written {
  const { dialect } = application;
  const known = WRITTEN.get(full);
  if (known?.dialect === dialect) return known;
  const lasting = JSON.stringify(lastingOf(application, full.row, full));
  const written = { dialect, lasting, whole: withReach(lasting, OUT_OF_REACH) };
  WRITTEN.set(full, written);
  return written;
}

function withReach(lasting: string, reach: Reach): string {
  return `${lasting.slice(0, -1)},${JSON.stringify(reach).slice(1)}`;
}

function lastingOf(
  { dialect }: Application,
  row: ConversationRow,
  { sandbox, usage }: Around,
): Omit<ConversationRecord, keyof Reach> {
  const { conversationId: id } = row;
  const status = shownStatus(row, sandbox);
  return {
    id,
    app_conversation_id: id,
    created_by_user_id: row.userId,
    sandbox_id: row.sandboxId,
    sandbox_status: status,
    pause_reason: sandbox?.pauseReason ?? null,
    transition: sandbox?.transition ?? null,
    stale: sandbox?.stale ?? false,
    execution_status: dialect.executionStatus(row.executionStatus, { status, isUp: isUp(sandbox) }),
    execution_status_at: row.executionStatusAt === null ? null : isoInstant(row.executionStatusAt),
    start_task_status: row.startTask,
    start_task_detail: row.startTaskDetail,
    selected_repository: row.selectedRepository,
    selected_branch: row.selectedBranch,
    git_provider: row.codeHost ?? null,
    title: titleOf(row),
    trigger: null,
    pr_number: [],
    llm_model: row.model,
    agent_kind: 'openhands',
    metrics: usage === null ? null : metricsOf(usage, row.nanoUsdMax ?? null),
    queued_messages: row.queuedMessages,
    run_id: row.runId,
    run_item: row.key,
    parent_conversation_id: null,
    sub_conversation_ids: [],
    public: null,
    tags: { ...row.tags },
    created_at: isoInstant(row.createdAt),
    updated_at: isoInstant(row.updatedAt),
  };
}

type Reach = Pick<ConversationRecord, 'conversation_url' | 'session_api_key'>;

const OUT_OF_REACH: Reach = { conversation_url: null, session_api_key: null };

function reachOf(
  application: Application,
  { conversationId }: ConversationRow,
  { sandbox }: Pick<Around, 'sandbox'>,
): Reach {
  if (sandbox === null || !isUp(sandbox)) return OUT_OF_REACH;
  const { sandboxId, generation } = sandbox;
  return {
    conversation_url: `${agentUrl(application, sandbox)}/api/conversations/${conversationId}`,
    session_api_key: application.world.keys.sessionKey(sandboxId, generation),
  };
}

function isUp(sandbox: SandboxRow | null): boolean {
  return sandbox?.available === true;
}

/** Before it has a place it is starting, or its start has failed. */
export function shownStatus(row: ConversationRow, sandbox: SandboxRow | null): SandboxStatus {
  const known = sandbox?.status ?? row.sandboxStatus;
  if (known !== null) return known;
  return row.startTask === 'ERROR' ? 'ERROR' : 'STARTING';
}

const NANO_PER_USD = 1_000_000_000;

function metricsOf(usage: ConversationUsage, nanoUsdMax: number | null): ConversationRecord['metrics'] {
  return {
    model_name: usage.modelName,
    accumulated_cost: usage.costNanoUsd / NANO_PER_USD,
    max_budget_per_task: nanoUsdMax === null ? null : nanoUsdMax / NANO_PER_USD,
    accumulated_token_usage: {
      model: usage.modelName,
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      cache_read_tokens: usage.cachedTokens,
      cache_write_tokens: 0,
      reasoning_tokens: 0,
      context_window: 0,
      per_turn_token: 0,
      response_id: '',
    },
  };
}
