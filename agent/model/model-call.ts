/**
 * Model calls of a conversation, with their usage counted: the next step, a question aside, a summary.
 * Owns what a call is made from, and which steps are left out of it; what the answer leads to is the caller's part.
 */
import { hexOf } from '../ids.ts';
import { eventsToForget, forgettableIds, forgottenIds, rememberedTurns } from './context-window.ts';
import { completeChat, type Streaming, type LlmCall, tellModelTrouble } from './llm-client.ts';
import { LlmError } from './llm-error.ts';
import type { LlmCompletion } from './llm-response.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { GrowingWords } from '../conversation/growing-words.ts';
import type { LoopContext } from '../loop/loop-context.ts';
import { addUsage } from '../metrics.ts';
import { promptMessages, systemPrompt, turnMessages, type ChatMessage } from './prompt.ts';
import { turnsOf, type Turn } from '../conversation/turns.ts';

/** What a call needs of a run; a question aside has no run. */
export type ModelContext = Pick<
  LoopContext,
  'conversation' | 'tools' | 'world' | 'log' | 'activity' | 'signal'
>;

const SUMMARY_REQUEST = `The steps above will be left out of this conversation from now on, to save space.
Write what must not be lost of them: what was asked, what was found out, which files were changed and how, what was tried and failed, what is left to do. Do not call a tool.`;

/** The next step. A prompt that proves too long is trimmed harder, once. @throws LlmError */
export async function askModel(context: ModelContext): Promise<LlmCompletion> {
  const { max_input_tokens: tokensMax } = context.conversation.meta.llm;
  requireKey(context);
  await trimPrompt(context, tokensMax);
  const words = new GrowingWords(context.conversation);
  const watched = { ...context, streaming: streamingOf(context.conversation, words) };
  try {
    return await callModel(watched, promptOf(context));
  } catch (error) {
    if (!(error instanceof LlmError) || error.code !== 'LLMContextWindowExceedError') throw error;
    if (!(await trimPrompt(context, Math.floor(tokensMax / 4)))) throw error;
    return await callModel(watched, promptOf(context));
  } finally {
    // What follows is the event, or the end of the run.
    words.end();
  }
}

/** Of conversations whose endpoint has refused to stream: no stream is requested from it again. */
const unstreamed = new WeakSet<Conversation>();

/** Null while no client watches: then an answer comes whole. */
function streamingOf(conversation: Conversation, words: GrowingWords): Streaming | null {
  if (!conversation.isWatched || unstreamed.has(conversation)) return null;
  return { onPiece: (piece) => words.take(piece), onRefused: () => void unstreamed.add(conversation) };
}

/** The model's answer to a question of which the conversation keeps nothing but the cost. @throws LlmError */
export async function askAside(context: ModelContext, question: string): Promise<string> {
  requireKey(context);
  const content = `${question}\n\nAnswer from what you know; do not call a tool.`;
  return (await callModel(context, [...promptOf(context), { role: 'user', content }])).text;
}

/** Replaces the older steps by a summary; false when there are none to replace. @throws LlmError */
export async function condense(context: ModelContext): Promise<boolean> {
  requireKey(context);
  const forget = forgettableIds(remembered(context));
  if (forget.length > 0) await forgetSteps(context, forget, true);
  return forget.length > 0;
}

/** @throws LlmError */
function requireKey({ conversation }: ModelContext): void {
  if (!conversation.meta.llm.needs_api_key || conversation.arming.apiKey !== null) return;
  throw new LlmError(
    'LLMAuthenticationError',
    'Cannot complete chat: the model key has not been given since the restart',
  );
}

async function callModel(
  context: ModelContext & { readonly streaming?: Streaming | null },
  messages: readonly ChatMessage[],
): Promise<LlmCompletion> {
  const { conversation, streaming = null } = context;
  const tools = context.tools.tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
  const call = llmCallOf(conversation, { messages, tools }, streaming);
  const completion = await context.activity.during(() =>
    completeChat(call, { ...context, onTrouble: (failed) => tellModelTrouble(conversation, failed) }),
  );
  const { usage_id: usageId, model, max_input_tokens: contextWindow } = conversation.meta.llm;
  conversation.setStats(addUsage(conversation.stats, { usageId, model, contextWindow }, completion.usage));
  return completion;
}

function promptOf(context: ModelContext): ChatMessage[] {
  const { conversation } = context;
  const condensed = conversation.log.all().filter((event) => event.kind === 'Condensation');
  const summaries = condensed.flatMap(({ summary }) => (summary === null ? [] : [summary]));
  return promptMessages(systemPrompt(conversation.meta), remembered(context), {
    trimmed: condensed.length > 0,
    summaries,
  });
}

function remembered({ conversation }: ModelContext): Turn[] {
  const events = conversation.log.all();
  return rememberedTurns(turnsOf(events), forgottenIds(events));
}

/** Forgets the oldest steps when the prompt is over `tokensMax`; true when something was forgotten. */
async function trimPrompt(context: ModelContext, tokensMax: number): Promise<boolean> {
  const { conversation, tools } = context;
  const baseChars = systemPrompt(conversation.meta).length + JSON.stringify(tools.tools).length;
  const forget = eventsToForget(remembered(context), { tokensMax, baseChars });
  if (forget.length === 0) return false;
  // A prompt that is too long for a step is too long for a summary of it, too, where the window is that small.
  const wanted = conversation.meta.summarize && tokensMax === conversation.meta.llm.max_input_tokens;
  await forgetSteps(context, forget, wanted);
  return true;
}

async function forgetSteps(
  context: ModelContext,
  forget: readonly string[],
  wantsSummary: boolean,
): Promise<void> {
  const { conversation } = context;
  const gone = new Set(forget);
  const turns = remembered(context).filter((turn) => {
    const first = turn.kind === 'message' ? turn.event : turn.steps[0]?.action;
    return first !== undefined && gone.has(first.id);
  });
  const completion = wantsSummary ? await summarize(context, turns) : null;
  const usage = conversation.stats.usage_to_metrics[conversation.meta.llm.usage_id];
  const summary = completion === null || completion.text.trim() === '' ? null : completion.text;
  conversation.append({
    kind: 'Condensation',
    source: 'environment',
    forgotten_event_ids: forget,
    summary,
    // Behind the system prompt and the first message.
    summary_offset: summary === null ? null : 2,
    llm_response_id: completion?.responseId ?? usage?.accumulated_token_usage.response_id ?? '',
  });
}

async function summarize(context: ModelContext, turns: readonly Turn[]): Promise<LlmCompletion> {
  const system: ChatMessage = { role: 'system', content: systemPrompt(context.conversation.meta) };
  const request: ChatMessage = { role: 'user', content: SUMMARY_REQUEST };
  return await callModel(context, [system, ...turns.flatMap(turnMessages), request]);
}

/** Headers the HTTP client itself sets; a profile cannot change them. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
]);

/**
 * From a conversation to a model call: headers and body. Owns which header and field carries what (D23).
 */
function llmCallOf(
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
