/**
 * The body of `POST /api/conversations`. Owns its schema and nothing else; unknown fields are accepted and ignored,
 * since clients of other releases send many.
 */
import { z } from 'zod';

import { acpEnvironmentSchema } from '../acp/acp-agent.ts';
import { hookConfigSchema } from '../hooks/hook-config.ts';
import {
  ITERATIONS_DEFAULT,
  ITERATIONS_MAX,
  LLM_RETRY_WINDOW_S_DEFAULT,
  LLM_TIMEOUT_S_DEFAULT,
  PLUGINS_MAX,
  PROMPT_TOKENS_DEFAULT,
} from '../limits.ts';
import { mcpConfigSchema } from '../mcp/mcp-servers.ts';
import { pluginSourceSchema } from '../plugins/plugin-source.ts';
import { requestSkillSchema } from '../skills.ts';
import {
  confirmationPolicySchema,
  headersSchema,
  messageSchema,
  secretsSchema,
  securityAnalyzerSchema,
  tagsSchema,
  uuidSchema,
} from '../serve/wire-schema.ts';

const SESSION_HEADER_DEFAULT = 'x-proxyvendor-session-id';

export const baseUrlSchema = z.string().regex(/^(https?:\/\/[^/\s]+|unix:\/[^:\s]+:\/)/, {
  message: 'Expected http://…, https://… or unix:/path/to.sock:/path',
});

/** A masked key, as clients echo it from an earlier answer, is no key. */
export const apiKeySchema = z
  .string()
  .max(16_384)
  .nullish()
  .transform((key) => (key === undefined || key === null || /^\**$/.test(key) ? null : key));

export const llmSchema = z.object({
  model: z.string().min(1).max(500),
  api_key: apiKeySchema,
  base_url: baseUrlSchema,
  usage_id: z.string().min(1).max(200).default('agent'),
  extra_headers: headersSchema.nullish().transform((headers) => headers ?? {}),
  session_header: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,100}$/, 'Expected a header name')
    .default(SESSION_HEADER_DEFAULT),
  retry_window_s: z.number().min(0).max(86_400).default(LLM_RETRY_WINDOW_S_DEFAULT),
  timeout: z
    .number()
    .positive()
    .max(86_400)
    .nullish()
    .transform((timeoutS) => timeoutS ?? LLM_TIMEOUT_S_DEFAULT),
  /** Words as they come for every listener; clients that listen for partial events get them in any case. */
  stream: z
    .boolean()
    .nullish()
    .transform((wanted) => wanted ?? false),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_output_tokens: z.number().int().positive().nullish(),
  max_input_tokens: z
    .number()
    .int()
    .min(1_000)
    .nullish()
    .transform((tokens) => tokens ?? PROMPT_TOKENS_DEFAULT),
});
export type LlmRequest = z.infer<typeof llmSchema>;

const agentObjectSchema = z.object({
  /** An `ACPAgent` is a program that speaks the Agent Client Protocol in place of our own loop. */
  kind: z.enum(['Agent', 'ACPAgent']).default('Agent'),
  /** The program and its first arguments. */
  acp_command: z.array(z.string().min(1).max(65_536)).max(100).nullish(),
  acp_args: z.array(z.string().max(65_536)).max(100).nullish(),
  acp_env: acpEnvironmentSchema.nullish(),
  acp_session_mode: z.string().min(1).max(200).nullish(),
  /** Its name where conversations are distinguished. */
  acp_server: z.string().min(1).max(200).nullish(),
  /** The version it must report. */
  acp_version: z.string().min(1).max(200).nullish(),
  llm: llmSchema,
  tools: z
    .array(z.object({ name: z.string() }))
    .max(50)
    .default([]),
  system_prompt: z.string().max(200_000).nullish(),
  condenser: z.object({ kind: z.string().optional() }).nullish(),
  mcp_config: mcpConfigSchema.nullish(),
  agent_context: z
    .object({
      skills: z.array(requestSkillSchema).max(200).default([]),
      system_message_suffix: z.string().max(200_000).nullish(),
      secrets: secretsSchema.nullish(),
    })
    .nullish(),
});
const agentSchema = agentObjectSchema.refine(
  ({ kind, acp_command: command }) => kind === 'Agent' || (command ?? []).length > 0,
  { message: 'An agent of its own needs a command', path: ['acp_command'] },
);

const threshold = (fallback: number): z.ZodDefault<z.ZodNumber> =>
  z.number().int().min(2).max(100).default(fallback);

export const thresholdsSchema = z.object({
  action_observation: threshold(4),
  action_error: threshold(3),
  monologue: threshold(3),
  alternating_pattern: threshold(6),
});
export type StuckThresholds = z.infer<typeof thresholdsSchema>;

export const startRequestSchema = z.object({
  agent: agentSchema,
  workspace: z.object({
    working_dir: z.string().min(1).optional(),
    kind: z.literal('LocalWorkspace').default('LocalWorkspace'),
  }),
  conversation_id: uuidSchema.nullish(),
  parent_conversation_id: uuidSchema.nullish(),
  confirmation_policy: confirmationPolicySchema.nullish(),
  /** Left out, the model's own assessment counts; null takes none. */
  security_analyzer: securityAnalyzerSchema.nullish(),
  initial_message: messageSchema.nullish(),
  max_iterations: z.number().int().min(1).max(ITERATIONS_MAX).default(ITERATIONS_DEFAULT),
  stuck_detection: z.boolean().default(true),
  stuck_detection_thresholds: thresholdsSchema.nullish(),
  plugins: z.array(pluginSourceSchema).max(PLUGINS_MAX).nullish(),
  hook_config: hookConfigSchema.nullish(),
  /** Skills and hooks that lie in the working directory are the agent's from its first action (D37). */
  load_project: z.boolean().default(false),
  secrets: secretsSchema.nullish(),
  /** No secret is given later: a placeholder that no secret fills refuses the start (D20). */
  secrets_complete: z.boolean().default(false),
  tags: tagsSchema.nullish(),
  user_id: z.string().min(1).max(500).nullish(),
  title: z.string().max(200).nullish(),
});
export type StartRequest = z.infer<typeof startRequestSchema>;
