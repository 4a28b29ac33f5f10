/**
 * From a model's answer to events: its actions are logged, held for confirmation or run in order.
 * Owns reading of tool calls and their execution. The loop decides what comes after.
 */
import { hexOf } from '../ids.ts';
import { runHooks } from '../hooks/run-hooks.ts';
import { needsConfirmation } from './confirmation.ts';
import { actionDraft, observationDraft, plainText, replyDraft, textContent } from '../conversation/event.ts';
import type { Action, ActionEvent, Classification, SecurityRisk } from '../conversation/event.ts';
import { TOOL_CALLS_PER_RESPONSE_MAX } from '../limits.ts';
import { jsonOrNull, type LlmCompletion, type LlmToolCall } from '../model/llm-response.ts';
import { messageOf } from '../serve/log.ts';
import type { LoopContext } from './loop-context.ts';
import { MASK } from '../redaction.ts';
import { boundText } from '../text-bound.ts';
import { FINISH_TOOL_NAME } from '../tools/finish.ts';
import { ToolArgumentError, splitArguments } from '../tools/tool.ts';
import { pendingActions } from '../conversation/turns.ts';

export type StepOutcome = 'continue' | 'finished' | 'waiting';

/** Broken arguments are quoted back up to this length. */
const QUOTED_ARGUMENTS_CHARS_MAX = 500;

const AGENT_ACTION: Classification = { kind: 'agent_action', retryable: true, user_action: 'none' };

type ReadCall =
  | {
      readonly kind: 'action';
      readonly action: Action;
      readonly risk: SecurityRisk;
      readonly summary: string | null;
    }
  | { readonly kind: 'problem'; readonly problem: string };

/** Logs the answer and does what it calls for. A plain reply ends the run, as in the reference. */
export async function takeAnswer(context: LoopContext, completion: LlmCompletion): Promise<StepOutcome> {
  if (completion.toolCalls.length === 0) {
    const { text, reasoning, responseId } = completion;
    context.conversation.append(replyDraft(text, reasoning, responseId));
    return 'finished';
  }
  const problems = new Map<string, string>();
  const calls = completion.toolCalls.slice(0, TOOL_CALLS_PER_RESPONSE_MAX);
  const events = calls.map((call, index) => logAction(context, completion, { call, index, problems }));
  for (const event of events) {
    const problem = problems.get(event.id);
    if (problem !== undefined) logError(context, event, problem);
  }
  const runnable = events.filter((event) => !problems.has(event.id));
  if (runnable.some((event) => mustWait(context, event))) return 'waiting';
  return await runActions(context, runnable);
}

function logAction(
  context: LoopContext,
  completion: LlmCompletion,
  given: { readonly call: LlmToolCall; readonly index: number; readonly problems: Map<string, string> },
): ActionEvent {
  const { call, index, problems } = given;
  const read = readCall(context, call);
  const id = context.world.uuid();
  if (read.kind === 'problem') problems.set(id, read.problem);
  else context.rawActions.set(id, read.action);
  const draft = actionDraft(
    {
      id: freshCallId(context.conversation, call.id, () => context.world.uuid()),
      name: call.name,
      arguments: call.arguments,
    },
    {
      thought: index === 0 && completion.text !== '' ? [textContent(completion.text)] : [],
      reasoning_content: index === 0 ? completion.reasoning : null,
      action: read.kind === 'action' ? read.action : null,
      llm_response_id: completion.responseId,
      security_risk: read.kind === 'action' ? read.risk : 'UNKNOWN',
      summary: read.kind === 'action' ? read.summary : null,
    },
  );
  return context.conversation.append(draft, { id }) as ActionEvent;
}

/** Endpoints repeat ids or give none, and agents count anew in every session; results are matched by them, so each is used once. */
export function freshCallId({ log }: LoopContext['conversation'], given: string, uuid: () => string): string {
  const used = log.all().some((event) => event.kind === 'ActionEvent' && event.tool_call_id === given);
  return given === '' || used ? `call_${hexOf(uuid())}` : given;
}

function readCall(context: LoopContext, call: LlmToolCall): ReadCall {
  const tool = context.tools.get(call.name);
  if (tool === null) {
    const names = context.tools.tools.map((each) => each.name).join(', ');
    return {
      kind: 'problem',
      problem: `Cannot call tool "${call.name}": there is none of that name; there are ${names}`,
    };
  }
  const raw = call.arguments.trim() === '' ? {} : jsonOrNull(call.arguments);
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    const quoted = boundText(call.arguments, QUOTED_ARGUMENTS_CHARS_MAX);
    return {
      kind: 'problem',
      problem: `Cannot call tool "${call.name}": arguments are no JSON object: ${quoted}`,
    };
  }
  const { own, risk, summary } = splitArguments(raw as Record<string, unknown>);
  try {
    return { kind: 'action', action: tool.parse(own), risk, summary };
  } catch (error) {
    if (error instanceof ToolArgumentError) return { kind: 'problem', problem: error.message };
    throw error;
  }
}

function mustWait({ conversation, tools }: LoopContext, event: ActionEvent): boolean {
  if (tools.get(event.tool_name)?.needsNoConfirmation === true) return false;
  const { confirmation_policy: policy, security_analyzer: analyzer } = conversation.meta;
  return needsConfirmation(policy, analyzer === null ? 'UNKNOWN' : event.security_risk);
}

/** Runs what waited for confirmation. */
export async function runPendingActions(context: LoopContext): Promise<StepOutcome> {
  return await runActions(context, pendingActions(context.conversation.log.all()));
}

async function runActions(context: LoopContext, events: readonly ActionEvent[]): Promise<StepOutcome> {
  let outcome: StepOutcome = 'continue';
  for (const event of events) {
    // What an interrupt left undone gets its error where the interrupt is logged.
    if (context.signal.aborted) break;
    const isForbidden = !(await runAction(context, event));
    if (event.tool_name === FINISH_TOOL_NAME && !isForbidden) outcome = 'finished';
  }
  return outcome;
}

/** False when a hook forbade it. */
async function runAction(context: LoopContext, event: ActionEvent): Promise<boolean> {
  const { conversation, tools } = context;
  const toolCall = { toolName: event.tool_name, toolInput: event.action, actionId: event.id };
  const forbidden = await runHooks(conversation, { event: 'pre_tool_use', ...toolCall }, context);
  if (forbidden !== null) {
    context.rawActions.delete(event.id);
    rejectAction(conversation, event, { reason: forbidden, by: 'hook' });
    return false;
  }
  const raw = context.rawActions.get(event.id);
  context.rawActions.delete(event.id);
  const action = raw ?? event.action;
  const tool = tools.get(event.tool_name);
  if (action === null || tool === null) {
    logError(context, event, 'The action cannot be run after the restart.');
  } else if (raw === undefined && JSON.stringify(action).includes(MASK)) {
    logError(
      context,
      event,
      'The action held a secret value, which is not kept over a restart. Use secrets by name.',
    );
  } else {
    try {
      const named = { tool_name: event.tool_name, tool_call_id: event.tool_call_id, action_id: event.id };
      const onOutput = (content: string): void =>
        conversation.tellPartial({
          ...{ kind: 'StreamingOutputEvent', source: 'environment', ...named, content },
        });
      const observation = await context.activity.during(() => tool.run(action, context.signal, onOutput));
      conversation.append(observationDraft(event, observation));
      const response = { event: 'post_tool_use', ...toolCall, toolResponse: observation } as const;
      await runHooks(conversation, response, context);
    } catch (error) {
      context.log('error', 'tool failed', { tool: event.tool_name, error: messageOf(error) });
      logError(context, event, `Cannot run tool "${event.tool_name}": ${messageOf(error)}`);
    }
  }
  return true;
}

function logError({ conversation }: LoopContext, event: ActionEvent, error: string): void {
  failAction(conversation, event, error, AGENT_ACTION);
}

/** Answers an action that did not run with an error event. */
export function failAction(
  conversation: LoopContext['conversation'],
  event: ActionEvent,
  error: string,
  classification: Classification,
): void {
  conversation.append({
    kind: 'AgentErrorEvent',
    source: 'agent',
    tool_name: event.tool_name,
    tool_call_id: event.tool_call_id,
    error,
    classification,
  });
}

/** Answers an action that the user or a hook forbade. */
export function rejectAction(
  conversation: LoopContext['conversation'],
  event: ActionEvent,
  { reason, by }: { readonly reason: string; readonly by: 'user' | 'hook' },
): void {
  conversation.append({
    kind: 'UserRejectObservation',
    source: 'environment',
    tool_name: event.tool_name,
    tool_call_id: event.tool_call_id,
    action_id: event.id,
    rejection_reason: reason,
    rejection_source: by,
  });
}

/** The message of the last finish action, or the last plain reply, or an empty text. */
export function finalResponse(conversation: LoopContext['conversation']): string {
  const last = conversation.log.last(
    (event): event is Extract<typeof event, { kind: 'ActionEvent' | 'MessageEvent' }> =>
      (event.kind === 'ActionEvent' && event.tool_name === FINISH_TOOL_NAME && event.action !== null) ||
      (event.kind === 'MessageEvent' && event.source === 'agent'),
  );
  if (last === null) return '';
  if (last.kind === 'MessageEvent') return plainText(last.llm_message.content);
  const message = last.action?.['message'];
  return typeof message === 'string' ? message : '';
}
