/**
 * From an agent's updates to events. Text is gathered until something else comes, and a call becomes an action once its
 * arguments are known: a log is only appended to.
 * Owns what has been told of a turn and not become an event yet. Decides nothing about the turn.
 */
import type { Conversation } from '../conversation/conversation.ts';
import { GrowingWords } from '../conversation/growing-words.ts';
import { failAction } from '../loop/action-step.ts';
import { textContent, type ActionEvent } from '../conversation/event.ts';
import { hexOf } from '../ids.ts';
import { ACP_CALLS_OPEN_MAX, ACP_TEXT_CHARS_MAX, OBSERVATION_CHARS_MAX, TASKS_MAX } from '../limits.ts';
import { boundText } from '../text-bound.ts';
import { actionOf, argumentsOf, changedCall, observationOf, riskOf, toolNameOf } from './tool-calls.ts';
import type { CallState } from './tool-calls.ts';
import { blockText, type PlanEntry, type SessionUpdate, type ToolCallChange } from './wire-updates.ts';

interface RecorderSurroundings {
  readonly conversation: Conversation;
  readonly uuid: () => string;
  /** Applied before text is cut. */
  readonly mask: (text: string) => string;
  readonly terminalText: (id: string) => string;
  /** Called behind every result of a call, and every message. */
  readonly recorded: () => void;
}

interface KnownCall {
  readonly state: CallState;
  /** Null: its action is not in the log yet. */
  readonly action: ActionEvent | null;
  readonly hasResult: boolean;
}

const TASK_STATUS = { pending: 'todo', in_progress: 'in_progress', completed: 'done' } as const;

export class UpdateRecorder {
  readonly #around: RecorderSurroundings;
  readonly #calls = new Map<string, KnownCall>();
  #message = '';
  #messageId: string | null = null;
  #thought = '';
  #plan = '';
  readonly #words: GrowingWords;
  #responseId: string;
  /** Events of this turn; an agent's steps are counted by them. */
  steps = 0;

  constructor(around: RecorderSurroundings) {
    this.#around = around;
    this.#words = new GrowingWords(around.conversation);
    this.#responseId = responseId(around.uuid());
  }

  take(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return this.#takeMessage(blockText(update.content), update.messageId ?? null);
      case 'agent_thought_chunk':
        return this.#takeThought(blockText(update.content));
      case 'tool_call':
      case 'tool_call_update':
        return this.#takeCall(update);
      case 'plan':
        return this.#takePlan(update.entries);
      case 'user_message_chunk':
      case 'current_mode_update':
      case 'config_option_update':
      case 'session_info_update':
        // Our own words come back, or the session tells of itself.
        return;
      default:
        return update satisfies never;
    }
  }

  /** The action of a call that asks for permission: it is in the log before anybody answers. */
  asked(change: ToolCallChange): { readonly action: ActionEvent; readonly call: CallState } {
    const before = this.#calls.get(change.toolCallId) ?? null;
    const call = changedCall(before?.state ?? null, change);
    const action = before?.action ?? this.#logAction(call);
    this.#calls.set(call.id, { state: call, action, hasResult: before?.hasResult ?? false });
    return { action, call };
  }

  /** Somebody forbade it, or it was cut off; what the agent tells of it later is no result. */
  settled(callId: string): void {
    const known = this.#calls.get(callId);
    if (known !== undefined) this.#calls.set(callId, { ...known, hasResult: true });
  }

  /** What was gathered becomes events, and calls that have no result get an error. */
  endTurn(): void {
    for (const [id, known] of this.#calls) {
      if (known.hasResult) continue;
      const action = known.action ?? this.#logAction(known.state);
      this.#calls.set(id, { ...known, action, hasResult: true });
      failAction(
        this.#around.conversation,
        action,
        'The turn of the agent ended before this call had a result.',
        {
          ...{ kind: 'agent_action', retryable: true, user_action: 'none' },
        },
      );
    }
    this.flushText();
    this.#plan = '';
  }

  /** The text so far as a message of the agent. */
  flushText(): void {
    if (this.#message.trim() === '' && this.#thought.trim() === '') return this.#forgetText();
    const { conversation, recorded } = this.#around;
    const reasoning = this.#thought.trim() === '' ? {} : { reasoning_content: this.#thought };
    conversation.append({
      kind: 'MessageEvent',
      source: 'agent',
      llm_message: {
        role: 'assistant',
        content: [textContent(this.#message)],
        thinking_blocks: [],
        ...reasoning,
      },
      llm_response_id: this.#responseId,
      activated_skills: [],
      extended_content: [],
      sender: null,
      critic_result: null,
    });
    this.#forgetText();
    this.steps += 1;
    recorded();
  }

  #takeMessage(text: string, messageId: string | null): void {
    if (messageId !== null && this.#messageId !== null && messageId !== this.#messageId) this.flushText();
    this.#messageId = messageId ?? this.#messageId;
    this.#message = longer(this.#message, text);
    this.#words.take({ responseId: this.#responseId, content: text, reasoning: '' });
  }

  #takeThought(text: string): void {
    this.#thought = longer(this.#thought, text);
    this.#words.take({ responseId: this.#responseId, content: '', reasoning: text });
  }

  #takeCall(change: ToolCallChange): void {
    const before = this.#calls.get(change.toolCallId) ?? null;
    if (before?.hasResult === true) return;
    if (before === null && this.#openCalls() >= ACP_CALLS_OPEN_MAX) return;
    const state = changedCall(before?.state ?? null, change);
    const action = before?.action ?? (state.status === 'pending' ? null : this.#logAction(state));
    const isDone = state.status === 'completed' || state.status === 'failed';
    this.#calls.set(state.id, { state, action, hasResult: isDone });
    if (isDone && action !== null) this.#logResult(state, action);
  }

  #openCalls(): number {
    return [...this.#calls.values()].filter(({ hasResult }) => !hasResult).length;
  }

  #logAction(call: CallState): ActionEvent {
    const { conversation } = this.#around;
    const callId = this.#freshCallId(call.id);
    const name = toolNameOf(call);
    const thought = this.#message.trim() === '' ? [] : [textContent(this.#message)];
    const reasoning = this.#thought.trim() === '' ? null : this.#thought;
    const answerId = this.#responseId;
    this.#forgetText();
    this.steps += 1;
    return conversation.append({
      kind: 'ActionEvent',
      source: 'agent',
      thought,
      reasoning_content: reasoning,
      thinking_blocks: [],
      responses_reasoning_item: null,
      action: actionOf(call),
      tool_name: name,
      tool_call_id: callId,
      tool_call: { id: callId, name, arguments: argumentsOf(call), origin: 'completion' },
      llm_response_id: answerId,
      security_risk: riskOf(call.kind),
      critic_result: null,
      summary: call.title === '' ? null : call.title.slice(0, 500),
    }) as ActionEvent;
  }

  #logResult(call: CallState, action: ActionEvent): void {
    const { conversation, mask, terminalText, recorded } = this.#around;
    conversation.append({
      kind: 'ObservationEvent',
      source: 'environment',
      tool_name: action.tool_name,
      tool_call_id: action.tool_call_id,
      observation: observationOf(call, { mask, terminalText }),
      action_id: action.id,
      extended_content: [],
    });
    recorded();
  }

  /** A plan is told whole every time, and often without a change. */
  #takePlan(entries: readonly PlanEntry[]): void {
    const tasks = entries.slice(0, TASKS_MAX).map(({ content, status }) => ({
      ...{ title: content.slice(0, 2_000), notes: '', status: TASK_STATUS[status] },
    }));
    const text = JSON.stringify(tasks);
    if (text === this.#plan) return;
    this.#plan = text;
    const { conversation, uuid } = this.#around;
    const call = { id: `plan_${hexOf(uuid())}`, name: 'task_tracker' };
    this.steps += 1;
    const action = conversation.append({
      kind: 'ActionEvent',
      source: 'agent',
      thought: [],
      reasoning_content: null,
      thinking_blocks: [],
      responses_reasoning_item: null,
      action: { kind: 'TaskTrackerAction', command: 'plan', task_list: tasks },
      tool_name: call.name,
      tool_call_id: call.id,
      tool_call: {
        ...call,
        arguments: JSON.stringify({ command: 'plan', task_list: tasks }),
        origin: 'completion',
      },
      llm_response_id: responseId(uuid()),
      security_risk: 'LOW',
      critic_result: null,
      summary: null,
    });
    const lines = tasks.map(({ title, status }) => `[${status}] ${title}`).join('\n');
    conversation.append({
      kind: 'ObservationEvent',
      source: 'environment',
      tool_name: call.name,
      tool_call_id: call.id,
      observation: {
        kind: 'TaskTrackerObservation',
        content: [textContent(boundText(lines, OBSERVATION_CHARS_MAX))],
        is_error: false,
        command: 'plan',
        task_list: tasks,
      },
      action_id: action.id,
      extended_content: [],
    });
  }

  #forgetText(): void {
    this.#message = '';
    this.#messageId = null;
    this.#thought = '';
    this.#words.end();
    this.#responseId = responseId(this.#around.uuid());
  }

  /** Agents count their calls anew in every session; results are matched by these ids. */
  #freshCallId(given: string): string {
    const { conversation, uuid } = this.#around;
    const isUsed = conversation.log
      .all()
      .some((event) => event.kind === 'ActionEvent' && event.tool_call_id === given);
    return isUsed ? `call_${hexOf(uuid())}` : given;
  }
}

/** What is over the bound is left out. */
function longer(text: string, more: string): string {
  return text.length >= ACP_TEXT_CHARS_MAX ? text : text + more.slice(0, ACP_TEXT_CHARS_MAX);
}

/** Agents do not tell which answer of a model a call came from, so each stands for itself. */
function responseId(uuid: string): string {
  return `acp-${hexOf(uuid)}`;
}
