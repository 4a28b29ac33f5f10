/**
 * The updates an agent sends about its work, as far as they become events: one schema for each kind of update.
 * Owns the reading of notifications; a kind that is unknown, or is not well-formed, is null. Pure.
 */
import { z } from 'zod';

const contentBlockSchema = z.looseObject({ type: z.string() });
export type ContentBlock = z.infer<typeof contentBlockSchema>;

const toolContentSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('content'), content: contentBlockSchema }),
  z.object({
    type: z.literal('diff'),
    path: z.string(),
    oldText: z.string().nullish(),
    newText: z.string(),
  }),
  z.object({ type: z.literal('terminal'), terminalId: z.string() }),
]);
export type ToolContent = z.infer<typeof toolContentSchema>;

const TOOL_KINDS = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/** A tool call, or what changes about one: what is left out stays as it was. */
export const toolCallSchema = z.object({
  toolCallId: z.string().min(1).max(500),
  title: z.string().nullish(),
  name: z.string().nullish(),
  /** Kinds of later releases are calls all the same. */
  kind: z.enum(TOOL_KINDS).nullish().catch('other'),
  status: z.enum(['pending', 'in_progress', 'completed', 'failed']).nullish(),
  content: z.array(toolContentSchema).nullish(),
  locations: z.array(z.object({ path: z.string(), line: z.number().nullish() })).nullish(),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
});
export type ToolCallChange = z.infer<typeof toolCallSchema>;

const planEntrySchema = z.object({
  content: z.string(),
  status: z.enum(['pending', 'in_progress', 'completed']),
  priority: z.string().optional(),
});
export type PlanEntry = z.infer<typeof planEntrySchema>;

/** A choice that a session offers, such as its model or its mode. */
export const configOptionSchema = z.looseObject({
  id: z.string(),
  category: z.string().nullish(),
  type: z.string(),
  currentValue: z.union([z.string(), z.boolean()]),
  options: z.array(z.looseObject({ value: z.string().optional() })).optional(),
});
export type ConfigOption = z.infer<typeof configOptionSchema>;

const chunk = { content: contentBlockSchema, messageId: z.string().nullish() };

const updateSchema = z.discriminatedUnion('sessionUpdate', [
  z.object({ sessionUpdate: z.literal('user_message_chunk'), ...chunk }),
  z.object({ sessionUpdate: z.literal('agent_message_chunk'), ...chunk }),
  z.object({ sessionUpdate: z.literal('agent_thought_chunk'), ...chunk }),
  toolCallSchema.extend({ sessionUpdate: z.literal('tool_call') }),
  toolCallSchema.extend({ sessionUpdate: z.literal('tool_call_update') }),
  z.object({ sessionUpdate: z.literal('plan'), entries: z.array(planEntrySchema) }),
  z.object({ sessionUpdate: z.literal('current_mode_update'), currentModeId: z.string() }),
  z.object({
    sessionUpdate: z.literal('config_option_update'),
    configOptions: z.array(configOptionSchema),
  }),
  z.object({ sessionUpdate: z.literal('session_info_update'), title: z.string().nullish() }),
]);
export type SessionUpdate = z.infer<typeof updateSchema>;

/** Sent by agents, and nothing that a conversation keeps. */
const UNKEPT: ReadonlySet<string> = new Set([
  'available_commands_update',
  'usage_update',
  'notice',
  'compaction_update',
  'compaction_summary_chunk',
]);

const notificationSchema = z.object({
  sessionId: z.string(),
  update: z.looseObject({ sessionUpdate: z.string() }),
});

type ReadUpdate =
  | { readonly kind: 'update'; readonly sessionId: string; readonly update: SessionUpdate }
  | { readonly kind: 'unkept' }
  | { readonly kind: 'malformed'; readonly problem: string };

export function readUpdate(params: unknown): ReadUpdate {
  const envelope = notificationSchema.safeParse(params);
  if (!envelope.success) return { kind: 'malformed', problem: problemOf(envelope.error) };
  const { sessionId, update } = envelope.data;
  if (UNKEPT.has(update.sessionUpdate)) return { kind: 'unkept' };
  const parsed = updateSchema.safeParse(update);
  if (!parsed.success) return { kind: 'malformed', problem: problemOf(parsed.error) };
  return { kind: 'update', sessionId, update: parsed.data };
}

/** The field and what is wrong with it, without its value. */
export function problemOf(error: z.ZodError): string {
  const issue = error.issues[0];
  return `${issue?.path.map(String).join('.') || 'it'}: ${issue?.message ?? 'malformed'}`;
}

/** A block as text: what is no text is named. */
export function blockText(block: ContentBlock): string {
  const { type, text, uri, resource } = block as ContentBlock & {
    readonly text?: unknown;
    readonly uri?: unknown;
    readonly resource?: { readonly text?: unknown; readonly uri?: unknown };
  };
  if (typeof text === 'string') return text;
  if (typeof resource?.text === 'string') return resource.text;
  const named = typeof uri === 'string' ? uri : resource?.uri;
  return typeof named === 'string' ? `[${named}]` : `[${type}]`;
}
