/**
 * The agent loop: ask the model, do what it says, until it finishes, waits, is stopped or gives up.
 * Owns every way a run can end and the status it leaves behind.
 */
import { failAction, runPendingActions, takeAnswer } from './action-step.ts';
import type { StepOutcome } from './action-step.ts';
import { eventsToForget, forgottenIds, rememberedTurns } from './context-window.ts';
import type { Classification } from './event.ts';
import { llmCallOf } from './llm-call.ts';
import { completeChat } from './llm-client.ts';
import { LlmError } from './llm-error.ts';
import type { LlmCompletion } from './llm-response.ts';
import { messageOf } from './log.ts';
import type { LoopContext } from './loop-context.ts';
import { addUsage } from './metrics.ts';
import { promptMessages, systemPrompt } from './prompt.ts';
import { stuckPattern } from './stuck-detection.ts';
import { zonedTimestamp } from './timestamp.ts';
import { pendingActions, turnsOf } from './turns.ts';
import type { Turn } from './turns.ts';

const INTERNAL: Classification = { kind: 'internal', retryable: true, user_action: 'retry' };

/** Runs until the run has ended; the conversation's status tells how. Never rejects for the model's or tools' sake. */
export async function runLoop(context: LoopContext, options: { readonly approved: boolean }): Promise<void> {
  try {
    if (options.approved && (await endedBy(context, await runPendingActions(context)))) return;
    const { max_iterations: iterationsMax } = context.conversation.meta;
    for (let iteration = 0; iteration < iterationsMax; iteration += 1) {
      context.signal.throwIfAborted();
      if (context.control.pauseRequested) {
        endPaused(context);
        return;
      }
      const stuck = detectStuck(context);
      if (stuck !== null) {
        context.log('warning', 'agent is stuck', {
          conversation_id: context.conversation.id,
          pattern: stuck,
        });
        context.conversation.setStatus('stuck');
        return;
      }
      const completion = await askModel(context);
      if (await endedBy(context, await takeAnswer(context, completion))) return;
    }
    endWithError(context, {
      code: 'MaxIterationsReached',
      detail: `Cannot go on: the run has taken ${iterationsMax} steps`,
      classification: { kind: 'config', retryable: true, user_action: 'retry' },
    });
  } catch (error) {
    endFailed(context, error);
  }
}

/** Sets the status a step's outcome calls for; true when the run has ended. */
function endedBy({ conversation, control, signal }: LoopContext, outcome: StepOutcome): boolean {
  signal.throwIfAborted();
  switch (outcome) {
    case 'continue':
      return false;
    case 'waiting':
      conversation.setStatus('waiting_for_confirmation');
      return true;
    case 'finished':
      if (control.rearmed) return false;
      conversation.setStatus('finished');
      return true;
    default:
      return outcome satisfies never;
  }
}

function detectStuck({ conversation, stuckFloor }: LoopContext): string | null {
  const { stuck_detection: wanted, thresholds } = conversation.meta;
  if (!wanted) return null;
  const lastUser = conversation.log.indexOf(conversation.lastUserMessageId ?? '') ?? -1;
  const recent = conversation.log.all().slice(Math.max(lastUser + 1, stuckFloor));
  return stuckPattern(turnsOf(recent), thresholds);
}

/** One model call, with its usage counted. A prompt that proves too long is trimmed harder, once. */
async function askModel(context: LoopContext): Promise<LlmCompletion> {
  const { conversation } = context;
  if (conversation.meta.llm.needs_api_key && conversation.arming.apiKey === null) {
    throw new LlmError(
      'LLMAuthenticationError',
      'Cannot complete chat: the model key has not been given since the restart',
    );
  }
  trimPrompt(context, conversation.meta.llm.max_input_tokens);
  try {
    return await callModel(context);
  } catch (error) {
    if (!(error instanceof LlmError) || error.code !== 'LLMContextWindowExceedError') throw error;
    if (!trimPrompt(context, Math.floor(conversation.meta.llm.max_input_tokens / 4))) throw error;
    return await callModel(context);
  }
}

async function callModel(context: LoopContext): Promise<LlmCompletion> {
  const { conversation, control } = context;
  control.rearmed = false;
  const { turns, trimmed } = promptTurns(context);
  const call = llmCallOf(conversation, {
    messages: promptMessages(systemPrompt(conversation.meta), turns, trimmed),
    tools: context.tools.tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    })),
  });
  const completion = await context.activity.during(() => completeChat(call, context));
  const { usage_id: usageId, model, max_input_tokens: contextWindow } = conversation.meta.llm;
  conversation.setStats(addUsage(conversation.stats, { usageId, model, contextWindow }, completion.usage));
  return completion;
}

function promptTurns({ conversation }: LoopContext): { readonly turns: Turn[]; readonly trimmed: boolean } {
  const events = conversation.log.all();
  const forgotten = forgottenIds(events);
  return { turns: rememberedTurns(turnsOf(events), forgotten), trimmed: forgotten.size > 0 };
}

/** Forgets the oldest steps when the prompt is over `tokensMax`; true when something was forgotten. */
function trimPrompt(context: LoopContext, tokensMax: number): boolean {
  const { conversation, tools } = context;
  const baseChars = systemPrompt(conversation.meta).length + JSON.stringify(tools.tools).length;
  const { turns } = promptTurns(context);
  const forget = eventsToForget(turns, { tokensMax, baseChars });
  if (forget.length === 0) return false;
  const usage = conversation.stats.usage_to_metrics[conversation.meta.llm.usage_id];
  conversation.append({
    kind: 'Condensation',
    source: 'environment',
    forgotten_event_ids: forget,
    summary: null,
    summary_offset: null,
    llm_response_id: usage?.accumulated_token_usage.response_id ?? '',
  });
  return true;
}

function endPaused({ conversation }: LoopContext): void {
  conversation.append({ kind: 'PauseEvent', source: 'user' });
  conversation.setStatus('paused');
}

interface RunError {
  readonly code: string;
  readonly detail: string;
  readonly classification: Classification;
}

function endWithError({ conversation }: LoopContext, error: RunError): void {
  conversation.append({ kind: 'ConversationErrorEvent', source: 'environment', ...error });
  conversation.setStatus('error', { error_code: error.code, error_detail: error.detail });
}

function endFailed(context: LoopContext, error: unknown): void {
  const { conversation, control, log } = context;
  if (context.signal.aborted) {
    endAborted(context);
  } else if (error instanceof LlmError && error.code === 'LLMRateLimitError') {
    const { code, message, classification, retryAfterMs } = error;
    conversation.append({
      kind: 'ConversationErrorEvent',
      source: 'environment',
      code,
      detail: message,
      classification,
    });
    // A limit is no failure of the run: it goes on at `retry_at` or at the next message (D6).
    const retryAt =
      retryAfterMs === null ? {} : { retry_at: zonedTimestamp(context.world.nowMs() + retryAfterMs) };
    conversation.setStatus('paused', { paused_reason: 'rate_limit', ...retryAt });
  } else if (error instanceof LlmError) {
    endWithError(context, { code: error.code, detail: error.message, classification: error.classification });
  } else {
    log('error', 'run failed', {
      conversation_id: conversation.id,
      error: messageOf(error),
      rearmed: control.rearmed,
    });
    endWithError(context, { code: 'InternalError', detail: messageOf(error), classification: INTERNAL });
  }
}

/** Ends a run whose signal fired: by the user it is paused, by the server's stop it is an error (D15). */
function endAborted(context: LoopContext): void {
  const { conversation, control } = context;
  if (control.abortedBy === 'deletion') return;
  const byUser = control.abortedBy === 'user';
  for (const action of pendingActions(conversation.log.all())) {
    failAction(conversation, action, 'The action was not run: the run was interrupted.', {
      kind: byUser ? 'agent_action' : 'transient',
      retryable: true,
      user_action: 'none',
    });
  }
  if (byUser) {
    conversation.append({ kind: 'InterruptEvent', source: 'user' });
    conversation.setStatus('paused');
  } else {
    endWithError(context, interruptedError('the agent server was stopped'));
  }
}

/** The error a run leaves that ended with its process. */
export function interruptedError(cause: string): RunError {
  return {
    code: 'Interrupted',
    detail: `Cannot go on: ${cause} while the agent was at work`,
    classification: { kind: 'transient', retryable: true, user_action: 'retry' },
  };
}
