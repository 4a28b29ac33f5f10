/**
 * What a conversation's meta.json holds: the request it was started with, minus everything secret (D15, D20).
 * Owns the stored shape and the split between what is stored and what lives in memory.
 */
import { z } from 'zod';

import { acpAgentSchema, type AcpAgent } from '../acp/acp-agent.ts';
import { isCredentialHeader } from '../workspace/credential-header.ts';
import { hookConfigSchema } from '../hooks/hook-config.ts';
import { mcpServersSchema } from '../mcp/mcp-servers.ts';
import type { Equipment } from '../plugins/merge-plugins.ts';
import { standingText, storedSkillSchema } from '../skills.ts';
import { thresholdsSchema, type LlmRequest, type StartRequest } from './start-request.ts';
import { confirmationPolicySchema } from '../serve/wire-schema.ts';

const storedLlmSchema = z.object({
  model: z.string(),
  base_url: z.string(),
  usage_id: z.string(),
  extra_headers: z.record(z.string(), z.string()),
  session_header: z.string(),
  retry_window_s: z.number(),
  timeout: z.number(),
  stream: z.boolean().default(false),
  temperature: z.number().nullable(),
  top_p: z.number().nullable(),
  max_output_tokens: z.number().nullable(),
  max_input_tokens: z.number(),
  /** Whether calls carry a key. After a restart it is missing until the caller posts it again. */
  needs_api_key: z.boolean(),
});
type StoredLlm = z.infer<typeof storedLlmSchema>;

export const conversationMetaSchema = z.object({
  version: z.literal(1),
  id: z.string(),
  created_at: z.string(),
  working_dir: z.string(),
  llm: storedLlmSchema,
  tools: z.array(z.string()),
  system_prompt: z.string().nullable(),
  system_suffix: z.string(),
  max_iterations: z.number(),
  stuck_detection: z.boolean(),
  thresholds: thresholdsSchema,
  confirmation_policy: confirmationPolicySchema,
  tags: z.record(z.string(), z.string()),
  title: z.string().nullable(),
  user_id: z.string().nullable(),
  parent_conversation_id: z.string().nullable(),
  /** All of them; the texts of those without a word to wait for are in `system_suffix`, too. */
  skills: z.array(storedSkillSchema).default([]),
  hook_config: hookConfigSchema.nullable().default(null),
  /** Without the values that are in no file; see `mcp-servers.ts`. */
  mcp_servers: mcpServersSchema.default({}),
  /** Whether steps that are left out of the prompt are summarized. */
  summarize: z.boolean().default(false),
  /** Null: the model's own word on a risk is not taken, and every risk is unknown. */
  security_analyzer: z.enum(['LLMSecurityAnalyzer']).nullable().default('LLMSecurityAnalyzer'),
  /** Null: the loop is our own. */
  acp: acpAgentSchema.nullable().default(null),
});
export type ConversationMeta = z.infer<typeof conversationMetaSchema>;

/** The stored half of a request's model settings. */
export function storedLlm(llm: LlmRequest): StoredLlm {
  const plain = Object.entries(llm.extra_headers).filter(([name]) => !isCredentialHeader(name));
  return {
    model: llm.model,
    base_url: llm.base_url,
    usage_id: llm.usage_id,
    extra_headers: Object.fromEntries(plain),
    session_header: llm.session_header.toLowerCase(),
    retry_window_s: llm.retry_window_s,
    timeout: llm.timeout,
    stream: llm.stream,
    temperature: llm.temperature ?? null,
    top_p: llm.top_p ?? null,
    max_output_tokens: llm.max_output_tokens ?? null,
    max_input_tokens: llm.max_input_tokens,
    needs_api_key: llm.api_key !== null,
  };
}

function newAcpAgent(agent: StartRequest['agent']): AcpAgent {
  const command = [...(agent.acp_command ?? []), ...(agent.acp_args ?? [])];
  return {
    name: agent.acp_server ?? command[0] ?? '',
    command,
    environment: agent.acp_env ?? {},
    mode: agent.acp_session_mode ?? null,
    version: agent.acp_version ?? null,
    session_id: null,
    prompted_event_id: null,
    told_name: null,
    told_version: null,
  };
}

/** The stored half of a start request. */
export function newMeta(
  request: StartRequest,
  given: {
    readonly id: string;
    readonly createdAt: string;
    readonly workingDir: string;
    readonly equipment: Equipment;
  },
): ConversationMeta {
  const { agent } = request;
  const { skills, hooks, mcpServers } = given.equipment;
  const suffix = agent.agent_context?.system_message_suffix ?? '';
  return {
    version: 1,
    id: given.id,
    created_at: given.createdAt,
    working_dir: given.workingDir,
    llm: storedLlm(agent.llm),
    tools: agent.tools.map((tool) => tool.name),
    system_prompt: agent.system_prompt ?? null,
    system_suffix: [standingText(skills), suffix].filter((text) => text !== '').join('\n\n'),
    max_iterations: request.max_iterations,
    stuck_detection: request.stuck_detection,
    thresholds: thresholdsSchema.parse(request.stuck_detection_thresholds ?? {}),
    confirmation_policy: request.confirmation_policy ?? { kind: 'NeverConfirm' },
    tags: request.tags ?? {},
    title: request.title ?? null,
    user_id: request.user_id ?? null,
    parent_conversation_id: request.parent_conversation_id ?? null,
    skills: [...skills],
    hook_config: hooks,
    mcp_servers: mcpServers,
    summarize: agent.condenser?.kind === 'LLMSummarizingCondenser',
    security_analyzer: request.security_analyzer === null ? null : 'LLMSecurityAnalyzer',
    acp: agent.kind === 'ACPAgent' ? newAcpAgent(agent) : null,
  };
}
