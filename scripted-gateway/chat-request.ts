// The body of a chat completion request: the fields this server reads, all others let through unread.
// It must not know scripts or keys.

import { z } from 'zod';

import { ApiError } from './api-error.ts';

const messageSchema = z.looseObject({
  role: z.string(),
  content: z.unknown().optional(),
  tool_calls: z.array(z.looseObject({ id: z.string() })).nullish(),
  tool_call_id: z.string().nullish(),
});

/** What a request offers, in whatever shape: a tool that cannot be read is none that a script asks for. */
export const toolsSchema = z.array(z.unknown()).nullish();

const requestSchema = z.looseObject({
  model: z.string(),
  messages: z.array(messageSchema).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  user: z.string().nullish(),
  tools: toolsSchema,
});

export type ChatRequest = z.infer<typeof requestSchema>;
export type ChatMessage = z.infer<typeof messageSchema>;

/** Reads a body. Throws an ApiError 400 that names the first field at fault. */
export function parseChatRequest(body: unknown): ChatRequest {
  return readBody(requestSchema, body);
}

/** Reads a body by its schema. Throws an ApiError 400 that names the first field at fault. */
export function readBody<Body>(schema: z.ZodType<Body>, body: unknown): Body {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path[0];
  throw new ApiError({
    status: 400,
    type: 'invalid_request_error',
    message: `Cannot read request: ${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'not understood'}`,
    param: field === undefined ? 'request_body' : String(field),
  });
}

/** The text of a message: its content, or its text parts one under the other. */
export function textOf(message: ChatMessage): string {
  if (typeof message.content === 'string') return message.content;
  if (!Array.isArray(message.content)) return '';
  return message.content
    .map((part: unknown) => (hasText(part) ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n');
}

const toolSchema = z.looseObject({
  name: z.string().optional(),
  function: z.looseObject({ name: z.string() }).optional(),
});

/** The tools of a request as they came; absent when it offers none. */
export type Offered = readonly unknown[] | null | undefined;

/** The names of the tools that a request offers, in the words of chat or of messages. */
export function offeredTools(tools: Offered): readonly string[] {
  return (tools ?? []).flatMap((tool) => {
    const { data } = toolSchema.safeParse(tool);
    return data?.function?.name ?? data?.name ?? [];
  });
}

function hasText(part: unknown): part is { readonly text: string } {
  return typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string';
}
