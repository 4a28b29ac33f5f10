/**
 * The agent loop: call the model, do what it says, until it finishes, waits, is stopped or gives up.
 * Owns every way a run can end and the status it leaves behind.
 */
import { failAction, runPendingActions, takeAnswer, type StepOutcome } from './action-step.ts';
import { environmentMessage, plainText, type Classification } from '../conversation/event.ts';
import { runHooks } from '../hooks/run-hooks.ts';
import { LlmError } from '../model/llm-error.ts';
import { messageOf } from '../serve/log.ts';
import type { LoopContext } from './loop-context.ts';
import { McpConnectionError } from '../mcp/mcp-tools.ts';
import { askModel } from '../model/model-call.ts';
import { stuckPattern } from './stuck-detection.ts';
import { zonedTimestamp } from '../timestamp.ts';
import { pendingActions, turnsOf } from '../conversation/turns.ts';

const INTERNAL: Classification = { kind: 'internal', retryable: true, user_action: 'retry' };

/** Runs until the run has ended; the conversation's status says how. Never rejects for the model's or tools' sake. */
export async function runLoop(context: LoopContext, options: { readonly approved: boolean }): Promise<void> {
  try {
    if (await forbiddenAtStart(context)) return;
    await context.tools.prepare();
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
      context.control.rearmed = false;
      const completion = await askModel(context);
      const outcome = await takeAnswer(context, completion);
      if (outcome === 'finished' && (await mustGoOn(context))) continue;
      if (await endedBy(context, outcome)) return;
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

/** Hooks of a session's begin and of messages that they have not seen; true when a message is forbidden. */
export async function forbiddenAtStart(context: LoopContext): Promise<boolean> {
  const { conversation } = context;
  if (conversation.meta.hook_config === null) return false;
  const events = conversation.log.all();
  const ran = events.filter((event) => event.kind === 'HookExecutionEvent');
  if (!ran.some(({ hook_event_type: type }) => type === 'SessionStart'))
    await runHooks(conversation, { event: 'session_start' }, context);
  const message = conversation.log.get(conversation.lastUserMessageId ?? '');
  if (message?.kind !== 'MessageEvent' || ran.some(({ message_id: id }) => id === message.id)) return false;
  const text = plainText(message.llm_message.content);
  const call = { event: 'user_prompt_submit', message: text, messageId: message.id } as const;
  const forbidden = await runHooks(conversation, call, context);
  if (forbidden === null) return false;
  // The message stands in the log, and the agent has nothing to do about it.
  conversation.setStatus('finished');
  return true;
}

/** Whether a hook forbids the end; its reason is then sent to the agent. */
export async function mustGoOn(context: LoopContext): Promise<boolean> {
  const { conversation } = context;
  const forbidden = await runHooks(conversation, { event: 'stop' }, context);
  if (forbidden === null) return false;
  conversation.append(environmentMessage(`You cannot stop yet: ${forbidden}`));
  return true;
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

export function detectStuck({ conversation, stuckFloor }: LoopContext): string | null {
  const { stuck_detection: wanted, thresholds } = conversation.meta;
  if (!wanted) return null;
  const lastUser = conversation.log.indexOf(conversation.lastUserMessageId ?? '') ?? -1;
  const recent = conversation.log.all().slice(Math.max(lastUser + 1, stuckFloor));
  return stuckPattern(turnsOf(recent), thresholds);
}

export function endPaused({ conversation }: LoopContext): void {
  conversation.append({ kind: 'PauseEvent', source: 'user' });
  conversation.setStatus('paused');
}

interface RunError {
  readonly code: string;
  readonly detail: string;
  readonly classification: Classification;
}

export function endWithError({ conversation }: Pick<LoopContext, 'conversation'>, error: RunError): void {
  conversation.append({ kind: 'ConversationErrorEvent', source: 'environment', ...error });
  conversation.setStatus('error', { error_code: error.code, error_detail: error.detail });
}

export function endFailed(context: LoopContext, error: unknown): void {
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
  } else if (error instanceof McpConnectionError) {
    endWithError(context, {
      ...{ code: 'MCPConnectionError', detail: error.message },
      classification: { kind: 'config', retryable: true, user_action: 'settings' },
    });
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
