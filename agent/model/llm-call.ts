/**
 * From a conversation to a model call: headers and body. Owns which header and field carries what (D23).
 */
import type { Conversation } from '../conversation/conversation.ts';
import { hexOf } from '../ids.ts';
import type { LlmCall } from './llm-client.ts';
import type { ChatMessage } from './prompt.ts';

/** Headers the HTTP client itself sets; a profile cannot change them. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
]);

export function llmCallOf(
  conversation: Conversation,
  prompt: { readonly messages: readonly ChatMessage[]; readonly tools: readonly unknown[] },
  streaming: LlmCall['streaming'],
): LlmCall {
  const { llm } = conversation.meta;
  return {
    baseUrl: llm.base_url,
    headers: headersOf(conversation),
    sessionHeader: llm.session_header,
    timeoutMs: llm.timeout * 1000,
    retryWindowMs: llm.retry_window_s * 1000,
    streaming,
    body: {
      model: llm.model.replace(/^openai\//, ''),
      messages: prompt.messages,
      ...(prompt.tools.length > 0 ? { tools: prompt.tools } : {}),
      ...(conversation.meta.user_id === null ? {} : { user: conversation.meta.user_id }),
      ...(llm.temperature === null ? {} : { temperature: llm.temperature }),
      ...(llm.top_p === null ? {} : { top_p: llm.top_p }),
      ...(llm.max_output_tokens === null ? {} : { max_tokens: llm.max_output_tokens }),
    },
  };
}

function headersOf({ id, meta, arming }: Conversation): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...meta.llm.extra_headers, ...arming.extraHeaders })) {
    const lower = name.toLowerCase();
    if (!OWN_HEADERS.has(lower)) headers[lower] = value;
  }
  if (arming.apiKey !== null) headers['authorization'] = `Bearer ${arming.apiKey}`;
  headers['accept'] = 'application/json';
  headers[meta.llm.session_header] = hexOf(id);
  return headers;
}
