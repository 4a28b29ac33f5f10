/**
 * From an agent's updates to events. Text is gathered until something else comes, and a call becomes an action once its
 * arguments are known: a log is only appended to.
 * Owns the updates of a turn that have not become events yet. Decides nothing about the turn.
 */
import type { Conversation } from '../conversation/conversation.ts';
import { GrowingWords } from '../conversation/growing-words.ts';
import { failAction, freshCallId } from '../loop/action-step.ts';
import {
  actionDraft,
  observationDraft,
  replyDraft,
  textContent,
  type ActionEvent,
} from '../conversation/event.ts';
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
        // Our own words come back, or the session reports on itself.
        return;
      default:
        return update satisfies never;
    }
  }

  /** The action of a call that requests permission: it is in the log before the user answers. */
  asked(change: ToolCallChange): { readonly action: ActionEvent; readonly call: CallState } {
    const before = this.#calls.get(change.toolCallId) ?? null;
    const call = changedCall(before?.state ?? null, change);
    const action = before?.action ?? this.#logAction(call);
    this.#calls.set(call.id, { state: call, action, hasResult: before?.hasResult ?? false });
    return { action, call };
  }

  /** A hook or the user forbade it, or it was cut off; what the agent reports of it later is no result. */
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
    const reasoning = this.#thought.trim() === '' ? null : this.#thought;
    conversation.append(replyDraft(this.#message, reasoning, this.#responseId));
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
    const { conversation, uuid } = this.#around;
    const draft = actionDraft(
      { id: freshCallId(conversation, call.id, uuid), name: toolNameOf(call), arguments: argumentsOf(call) },
      {
        thought: this.#message.trim() === '' ? [] : [textContent(this.#message)],
        reasoning_content: this.#thought.trim() === '' ? null : this.#thought,
        action: actionOf(call),
        llm_response_id: this.#responseId,
        security_risk: riskOf(call.kind),
        summary: call.title === '' ? null : call.title.slice(0, 500),
      },
    );
    this.#forgetText();
    this.steps += 1;
    return conversation.append(draft) as ActionEvent;
  }

  #logResult(call: CallState, action: ActionEvent): void {
    const { conversation, mask, terminalText, recorded } = this.#around;
    conversation.append(observationDraft(action, observationOf(call, { mask, terminalText })));
    recorded();
  }

  /** Agents send a plan whole every time, and often without a change. */
  #takePlan(entries: readonly PlanEntry[]): void {
    const tasks = entries.slice(0, TASKS_MAX).map(({ content, status }) => ({
      ...{ title: content.slice(0, 2_000), notes: '', status: TASK_STATUS[status] },
    }));
    const text = JSON.stringify(tasks);
    if (text === this.#plan) return;
    this.#plan = text;
    const { conversation, uuid } = this.#around;
    const list = { command: 'plan', task_list: tasks };
    const call = { id: `plan_${hexOf(uuid())}`, name: 'task_tracker', arguments: JSON.stringify(list) };
    this.steps += 1;
    const draft = actionDraft(call, {
      ...{ thought: [], reasoning_content: null, summary: null, security_risk: 'LOW' },
      action: { kind: 'TaskTrackerAction', ...list },
      llm_response_id: responseId(uuid()),
    });
    const action = conversation.append(draft) as ActionEvent;
    const lines = tasks.map(({ title, status }) => `[${status}] ${title}`).join('\n');
    const content = [textContent(boundText(lines, OBSERVATION_CHARS_MAX))];
    const observation = { kind: 'TaskTrackerObservation', content, is_error: false, ...list };
    conversation.append(observationDraft(action, observation));
  }

  #forgetText(): void {
    this.#message = '';
    this.#messageId = null;
    this.#thought = '';
    this.#words.end();
    this.#responseId = responseId(this.#around.uuid());
  }
}

/** What is over the bound is left out. */
function longer(text: string, more: string): string {
  return text.length >= ACP_TEXT_CHARS_MAX ? text : text + more.slice(0, ACP_TEXT_CHARS_MAX);
}

/** Agents do not say which answer of a model a call came from, so each stands for itself. */
function responseId(uuid: string): string {
  return `acp-${hexOf(uuid)}`;
}
