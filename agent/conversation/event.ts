/**
 * The events of a conversation as they stand in the log and go over the wire.
 * Owns their types and the check of what is read back from disk. Emits no field the reference does not have.
 */
import { z } from 'zod';

interface TextContent {
  readonly type: 'text';
  readonly text: string;
  readonly cache_prompt: boolean;
}
interface ImageContent {
  readonly type: 'image';
  readonly image_urls: readonly string[];
  readonly cache_prompt: boolean;
}
export type Content = TextContent | ImageContent;

export type SecurityRisk = 'UNKNOWN' | 'LOW' | 'MEDIUM' | 'HIGH';

/** What kind of trouble an error is, for callers that decide what to do about it. */
export interface Classification {
  readonly kind:
    'auth' | 'quota' | 'rate_limit' | 'config' | 'transient' | 'agent_action' | 'internal' | 'unknown';
  readonly retryable: boolean;
  readonly user_action: 'none' | 'retry' | 'settings';
}

export interface Action {
  readonly kind: string;
  readonly [field: string]: unknown;
}
export interface Observation {
  readonly kind: string;
  readonly content: readonly Content[];
  readonly is_error: boolean;
  readonly [field: string]: unknown;
}
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
  readonly origin: 'completion';
}
interface LlmMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Content[];
  readonly thinking_blocks: readonly never[];
  readonly reasoning_content?: string;
}

interface EventBase {
  readonly id: string;
  /** Naive UTC with microseconds; strictly increasing within a conversation. */
  readonly timestamp: string;
  /** The last event before it that is part of the conversation's tree. */
  readonly parent_id: string | null;
}

export interface MessageEvent extends EventBase {
  readonly kind: 'MessageEvent';
  /** The environment is the source where a hook keeps an agent from stopping, or adds something. */
  readonly source: 'user' | 'agent' | 'environment';
  readonly llm_message: LlmMessage;
  readonly llm_response_id: string | null;
  readonly activated_skills: readonly string[];
  readonly extended_content: readonly Content[];
  readonly sender: string | null;
  readonly critic_result: null;
}
export interface SystemPromptEvent extends EventBase {
  readonly kind: 'SystemPromptEvent';
  readonly source: 'agent';
  readonly system_prompt: TextContent;
  readonly tools: readonly Readonly<Record<string, unknown>>[];
  readonly dynamic_context: null;
}
export interface ActionEvent extends EventBase {
  readonly kind: 'ActionEvent';
  readonly source: 'agent';
  readonly thought: readonly TextContent[];
  readonly reasoning_content: string | null;
  readonly thinking_blocks: readonly never[];
  readonly responses_reasoning_item: null;
  /** Null when the arguments could not be read or the tool is unknown. */
  readonly action: Action | null;
  readonly tool_name: string;
  readonly tool_call_id: string;
  readonly tool_call: ToolCall;
  readonly llm_response_id: string;
  readonly security_risk: SecurityRisk;
  readonly critic_result: null;
  readonly summary: string | null;
}
export interface ObservationEvent extends EventBase {
  readonly kind: 'ObservationEvent';
  readonly source: 'environment';
  readonly tool_name: string;
  readonly tool_call_id: string;
  readonly observation: Observation;
  readonly action_id: string;
  readonly extended_content: readonly Content[];
}
export interface UserRejectObservation extends EventBase {
  readonly kind: 'UserRejectObservation';
  readonly source: 'environment';
  readonly tool_name: string;
  readonly tool_call_id: string;
  readonly action_id: string;
  readonly rejection_reason: string;
  readonly rejection_source: 'user' | 'hook';
}
export interface AgentErrorEvent extends EventBase {
  readonly kind: 'AgentErrorEvent';
  readonly source: 'agent';
  readonly tool_name: string;
  readonly tool_call_id: string;
  readonly error: string;
  readonly classification: Classification | null;
}
export interface ConversationErrorEvent extends EventBase {
  readonly kind: 'ConversationErrorEvent';
  readonly source: 'environment';
  readonly code: string;
  readonly detail: string;
  readonly classification: Classification | null;
}
export interface StateUpdateEvent extends EventBase {
  readonly kind: 'ConversationStateUpdateEvent';
  readonly source: 'environment';
  readonly key: string;
  readonly value: unknown;
}
interface StopEvent extends EventBase {
  readonly kind: 'PauseEvent' | 'InterruptEvent';
  readonly source: 'user';
}
interface CondensationEvent extends EventBase {
  readonly kind: 'Condensation';
  readonly source: 'environment';
  readonly forgotten_event_ids: readonly string[];
  readonly summary: string | null;
  readonly summary_offset: number | null;
  readonly llm_response_id: string;
}

export interface HookExecutionEvent extends EventBase {
  readonly kind: 'HookExecutionEvent';
  readonly source: 'hook';
  /** `PreToolUse` and its like. */
  readonly hook_event_type: string;
  readonly hook_command: string;
  readonly tool_name: string | null;
  readonly success: boolean;
  readonly blocked: boolean;
  readonly exit_code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly reason: string | null;
  readonly additional_context: string | null;
  readonly error: string | null;
  readonly action_id: string | null;
  readonly message_id: string | null;
  readonly hook_input: null;
}

export type ConversationEvent =
  | MessageEvent
  | SystemPromptEvent
  | ActionEvent
  | ObservationEvent
  | UserRejectObservation
  | AgentErrorEvent
  | ConversationErrorEvent
  | StateUpdateEvent
  | StopEvent
  | CondensationEvent
  | HookExecutionEvent;

type DraftOf<E> = E extends ConversationEvent ? Omit<E, 'id' | 'timestamp' | 'parent_id'> : never;

/** An event before the log gives it an id, a time and a parent. */
export type EventDraft = DraftOf<ConversationEvent>;

const storedEventSchema = z.looseObject({
  id: z.string(),
  timestamp: z.string(),
  kind: z.enum([
    'MessageEvent',
    'SystemPromptEvent',
    'ActionEvent',
    'ObservationEvent',
    'UserRejectObservation',
    'AgentErrorEvent',
    'ConversationErrorEvent',
    'ConversationStateUpdateEvent',
    'PauseEvent',
    'InterruptEvent',
    'Condensation',
    'HookExecutionEvent',
  ]),
});

/** The event of one log line, or null when the line is none: we wrote it, so its envelope is all that is checked. */
export function parseStoredEvent(line: string): ConversationEvent | null {
  try {
    const parsed = storedEventSchema.safeParse(JSON.parse(line));
    return parsed.success ? (parsed.data as unknown as ConversationEvent) : null;
  } catch {
    return null;
  }
}

export function textContent(text: string): TextContent {
  return { type: 'text', text, cache_prompt: false };
}

type MessageFields = Pick<MessageEvent, 'source' | 'llm_message'> & Partial<DraftOf<MessageEvent>>;

/** A message of the user, the agent or the environment; what is left out is empty. */
export function messageDraft(fields: MessageFields): EventDraft {
  const { source, llm_message: message, ...given } = fields;
  return {
    ...{ kind: 'MessageEvent', source, llm_message: message, llm_response_id: null },
    ...{ activated_skills: [], extended_content: [], sender: null, critic_result: null },
    ...given,
  };
}

/** What the model gets to read that neither it nor the user said. */
export function environmentMessage(text: string): EventDraft {
  const message = { role: 'user', content: [textContent(text)], thinking_blocks: [] } as const;
  return messageDraft({ source: 'environment', llm_message: message });
}

/** What the agent says without calling a tool. */
export function replyDraft(text: string, reasoning: string | null, responseId: string): EventDraft {
  const message: LlmMessage = {
    role: 'assistant',
    content: [textContent(text)],
    thinking_blocks: [],
    ...(reasoning === null ? {} : { reasoning_content: reasoning }),
  };
  return messageDraft({ source: 'agent', llm_message: message, llm_response_id: responseId });
}

type Call = Pick<ToolCall, 'id' | 'name' | 'arguments'>;
type ActionFields = Pick<
  ActionEvent,
  'thought' | 'reasoning_content' | 'action' | 'llm_response_id' | 'security_risk' | 'summary'
>;

/** A call of a tool, as the log has it before it is run. */
export function actionDraft(call: Call, fields: ActionFields): EventDraft {
  return {
    ...{ kind: 'ActionEvent', source: 'agent', ...fields },
    ...{ thinking_blocks: [], responses_reasoning_item: null, critic_result: null },
    ...{ tool_name: call.name, tool_call_id: call.id, tool_call: { ...call, origin: 'completion' } },
  };
}

/** The outcome of an action. */
export function observationDraft(action: ActionEvent, observation: Observation): EventDraft {
  const { tool_name, tool_call_id, id } = action;
  return {
    ...{ kind: 'ObservationEvent', source: 'environment', tool_name, tool_call_id, observation },
    ...{ action_id: id, extended_content: [] },
  };
}

/** The text of content blocks, joined by line ends. */
export function plainText(content: readonly Content[]): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** What the model gets to read of an observation: its text, and for a command how it ended. */
export function observationText(observation: Observation): string {
  const metadata = observation['metadata'];
  const suffix =
    typeof metadata === 'object' && metadata !== null && 'suffix' in metadata ? metadata.suffix : '';
  return plainText(observation.content) + (typeof suffix === 'string' ? suffix : '');
}

/** The form of search results: null fields of the event itself are left out, a state's null value is kept. */
export function withoutNulls(event: ConversationEvent): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(event).filter(([key, value]) => value !== null || key === 'value'),
  );
}
