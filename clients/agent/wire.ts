/**
 * Spelling of the Agent API: lower-case statuses, hyphenated ids, snake case.
 * Owns turning answers into what the port promises, and requests into bodies; must not send anything.
 */
import { z } from 'zod';
import { conversationId, hyphenatedUuid } from '../../core/ids.ts';
import type { PlanAgent } from '../../core/plan/plan-agent.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { EXECUTION_STATUSES, type ExecutionStatus } from '../../core/status.ts';
import type {
  AgentConversationRequest,
  AgentConversationView,
  AgentMetrics,
  AgentModel,
} from '../../ports/agent-server.ts';

/** Which server is called: ours, or the one of OpenHands. */
export type AgentDialect = 'reference' | 'openhands';

/** What a coding agent works with; the server adds the ones that finish a run. */
const TOOLS = ['terminal', 'file_editor', 'task_tracker'];
/** The agent speaks OpenAI's protocol; what follows is the name the proxy knows. */
const MODEL_PREFIX = 'openai/';
const USAGE_ID = 'agent';

const metricsSchema = z.object({
  model_name: z.string().default('default'),
  accumulated_cost: z.number().default(0),
  accumulated_token_usage: z
    .object({ prompt_tokens: z.number().default(0), completion_tokens: z.number().default(0) })
    .nullish(),
});

const infoSchema = z.object({
  id: z.string(),
  execution_status: z.string(),
  agent_state: z
    .object({
      paused_reason: z.string().nullish(),
      retry_at: z.string().nullish(),
      error_code: z.string().nullish(),
      error_detail: z.string().nullish(),
      disk_was_full: z.boolean().nullish(),
    })
    .nullish(),
  metrics: metricsSchema.nullish(),
  stats: z.object({ usage_to_metrics: z.record(z.string(), metricsSchema).default({}) }).nullish(),
  updated_at: z.string(),
});

export const eventPageSchema = z.object({
  items: z.array(
    z.looseObject({ id: z.string(), timestamp: z.string(), kind: z.string(), source: z.string() }),
  ),
  next_page_id: z.string().nullish(),
});

export const bashOutputSchema = z.object({
  command_id: z.string().nullish(),
  order: z.number().nullish(),
  exit_code: z.number().nullish(),
  stdout: z.string().nullish(),
  stderr: z.string().nullish(),
});
export type BashOutput = z.infer<typeof bashOutputSchema>;

export const bashPageSchema = z.object({
  items: z.array(bashOutputSchema),
  next_page_id: z.string().nullish(),
});
export const gitChangesSchema = z.array(
  z.object({ status: z.enum(['MOVED', 'ADDED', 'DELETED', 'UPDATED']), path: z.string() }),
);
export const gitDiffSchema = z.object({
  modified: z.string().nullish(),
  original: z.string().nullish(),
});
export const serverInfoSchema = z.object({ idle_time: z.number() });

/** @throws ParleyError agent_refused: the answer does not have the expected shape; the message names the field */
const findingsSchema = z.array(z.string().max(1_000)).max(1_000);

/** What a patch lacks, from a header: a server that says nothing of it, or something else, has found nothing. */
export function readPatchFindings(header: string | null): readonly string[] {
  if (header === null) return [];
  try {
    return findingsSchema.parse(JSON.parse(Buffer.from(header, 'base64url').toString('utf8')));
  } catch {
    return [];
  }
}

export function parseAnswer<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.map(String).join('.') ?? '';
  throw new ParleyError(
    'agent_refused',
    `Cannot read answer of the Agent Server: field "${field}": ${issue?.message}`,
  );
}

/** Code of the error event that ends a run whose iterations are used up. */
const ITERATIONS_USED_UP = 'MaxIterationsReached';

/** Length of an agent's own words that a record keeps. */
const DETAIL_CHARS_MAX = 500;

/** The newest error of a conversation, given a page of its error events, newest first. */
export function readError(value: unknown): Pick<AgentConversationView, 'iterationLimitReached' | 'detail'> {
  const event = parseAnswer(eventPageSchema, value).items[0];
  return errorOf(event?.['code'], event?.['detail']);
}

function errorOf(
  code: unknown,
  detail: unknown,
): Pick<AgentConversationView, 'iterationLimitReached' | 'detail'> {
  const words = [code, detail].filter((word) => typeof word === 'string');
  return {
    iterationLimitReached: code === ITERATIONS_USED_UP,
    detail: words.length === 0 ? null : words.join(': ').slice(0, DETAIL_CHARS_MAX),
  };
}

/** Null while the conversation is being deleted. @throws ParleyError agent_refused: unknown shape or status word */
export function readView(value: unknown): AgentConversationView | null {
  const info = parseAnswer(infoSchema, value);
  if (info.execution_status === 'deleting') return null;
  const executionStatus = readStatus(info.execution_status);
  return {
    conversationId: conversationId(info.id),
    executionStatus,
    pausedReason:
      executionStatus === 'PAUSED' && info.agent_state?.paused_reason === 'rate_limit' ? 'rate_limit' : null,
    // Servers that do not say so here say it in their error event; see `conversation`.
    ...(executionStatus === 'ERROR'
      ? errorOf(info.agent_state?.error_code, info.agent_state?.error_detail)
      : { iterationLimitReached: false, detail: null }),
    retryAt: info.agent_state?.retry_at == null ? null : readTime(info.agent_state.retry_at),
    metrics: readMetrics(info),
    diskWasFull: info.agent_state?.disk_was_full === true,
    updatedAt: readTime(info.updated_at),
  };
}

/** The specification's word for the wire's (D2). @throws ParleyError agent_refused, naming the unknown word */
function readStatus(word: string): ExecutionStatus {
  const status = EXECUTION_STATUSES.find((known) => known === word.toUpperCase());
  if (status !== undefined) return status;
  throw new ParleyError(
    'agent_refused',
    `Cannot read conversation: unknown execution status ${JSON.stringify(word)}`,
  );
}

/** The total where the server reports it, else the sum over its usages. */
function readMetrics({ metrics, stats }: z.infer<typeof infoSchema>): AgentMetrics | null {
  const parts =
    metrics === undefined || metrics === null ? Object.values(stats?.usage_to_metrics ?? {}) : [metrics];
  const [first] = parts;
  if (first === undefined) return null;
  const sum = (read: (part: z.infer<typeof metricsSchema>) => number): number =>
    parts.reduce((total, part) => total + read(part), 0);
  return {
    modelName: first.model_name,
    promptTokens: sum((part) => part.accumulated_token_usage?.prompt_tokens ?? 0),
    completionTokens: sum((part) => part.accumulated_token_usage?.completion_tokens ?? 0),
    accumulatedCostUsd: sum((part) => part.accumulated_cost),
  };
}

/** @throws ParleyError agent_refused: no timestamp */
function readTime(text: string): number {
  const zoned = /(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`;
  const at = Date.parse(zoned);
  if (Number.isFinite(at)) return at;
  throw new ParleyError('agent_refused', 'Cannot read conversation: "updated_at" is no timestamp');
}

/** What the workspace brings, for a server that does not read it by itself. */
export interface BroughtBody {
  readonly skills?: readonly unknown[];
  readonly hook_config?: unknown;
}

/** Body of `POST /api/conversations`; without an initial message, so that no run starts. */
export function startBody(
  request: AgentConversationRequest,
  dialect: AgentDialect,
  brought: BroughtBody = {},
): Readonly<Record<string, unknown>> {
  return {
    conversation_id: hyphenatedUuid(request.conversationId),
    workspace: { kind: 'LocalWorkspace', working_dir: request.workingDir },
    agent: agentBody(request, dialect, brought.skills ?? []),
    confirmation_policy: confirmationPolicy(request.confirmation),
    max_iterations: request.iterationsMax,
    secrets: secretsBody(request.secrets),
    tags: request.tags,
    user_id: request.userId,
    autotitle: false,
    ...(request.plugins?.length ? { plugins: request.plugins.map((source) => ({ source })) } : {}),
    ...(brought.hook_config === undefined ? {} : { hook_config: brought.hook_config }),
    ...(dialect === 'openhands' ? openhandsStart(request) : { secrets_complete: true, load_project: true }),
  };
}

/** Its tools are modules that it loads by name. */
function openhandsStart({ confirmation }: AgentConversationRequest): Readonly<Record<string, unknown>> {
  const modules = TOOLS.map((name) => [name, `openhands.tools.${name}.definition`]);
  return {
    tool_module_qualnames: Object.fromEntries(modules),
    // Where it is set, an action without a risk is refused; without it every risk is unknown.
    ...(confirmation === 'risky' ? { security_analyzer: { kind: 'LLMSecurityAnalyzer' } } : {}),
  };
}

/** The agent itself. The one of OpenHands says nothing of the folder to its model; the reference one does. */
function agentBody(
  request: AgentConversationRequest,
  dialect: AgentDialect,
  skills: readonly unknown[],
): Readonly<Record<string, unknown>> {
  if (request.agent !== undefined) return acpBody(request, request.agent);
  const suffix = `Your working directory is ${request.workingDir}.`;
  return {
    kind: 'Agent',
    llm: llmBody(request, dialect),
    tools: TOOLS.map((name) => ({ name, params: {} })),
    ...(dialect === 'openhands' ? { agent_context: { system_message_suffix: suffix, skills } } : {}),
  };
}

function acpBody(request: AgentConversationRequest, agent: PlanAgent): Readonly<Record<string, unknown>> {
  return {
    kind: 'ACPAgent',
    llm: llmBody(request, 'reference'),
    acp_server: agent.name,
    acp_command: agent.command,
    acp_env: agent.environment,
    ...(agent.mode === null ? {} : { acp_session_mode: agent.mode }),
    ...(agent.version === null ? {} : { acp_version: agent.version }),
  };
}

export function llmBody(
  { llm, conversationId: id }: Pick<AgentConversationRequest, 'llm' | 'conversationId'>,
  dialect: AgentDialect,
): Readonly<Record<string, unknown>> {
  if (dialect === 'openhands') {
    // It does not know which header names a conversation to the proxy, so the header is there already (D23).
    const headers = { ...llm.extraHeaders, [llm.sessionHeader]: id };
    return { ...modelBody(llm), extra_headers: headers };
  }
  return { ...modelBody(llm), extra_headers: llm.extraHeaders, session_header: llm.sessionHeader };
}

function modelBody(llm: AgentModel): Readonly<Record<string, unknown>> {
  return {
    model: `${MODEL_PREFIX}${llm.model}`,
    api_key: llm.apiKey,
    base_url: llm.baseUrl,
    usage_id: USAGE_ID,
  };
}

export function secretsBody(secrets: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(secrets).map(([name, value]) => [name, { kind: 'StaticSecret', value }]),
  );
}

function confirmationPolicy(
  policy: AgentConversationRequest['confirmation'],
): Readonly<Record<string, unknown>> {
  switch (policy) {
    case 'never':
      return { kind: 'NeverConfirm' };
    case 'risky':
      return { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: true };
    case 'always':
      return { kind: 'AlwaysConfirm' };
    default:
      return policy satisfies never;
  }
}
