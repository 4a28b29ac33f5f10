/**
 * The prompt: the system text and the chat messages that a log amounts to. Pure.
 */
import type { ConversationMeta } from '../conversation/conversation-meta.ts';
import { observationText, plainText, type Content } from '../conversation/event.ts';
import { jsonOrNull } from './llm-response.ts';
import type { ActionResult, ActionTurn, MessageTurn, Turn } from '../conversation/turns.ts';

interface ChatToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly Readonly<Record<string, unknown>>[] | null;
  readonly tool_calls?: readonly ChatToolCall[];
  readonly tool_call_id?: string;
}

const TRIMMED_NOTE =
  'Note: earlier steps of this conversation were left out to save space. Files and the terminal are as those steps left them.';

export function systemPrompt(meta: ConversationMeta): string {
  const base = meta.system_prompt ?? defaultSystemPrompt(meta.working_dir);
  return meta.system_suffix === '' ? base : `${base}\n\n${meta.system_suffix}`;
}

function defaultSystemPrompt(workingDir: string): string {
  return `You are a coding agent that works in a sandbox on the user's behalf. Your working directory is ${workingDir}.

How to work
- Look before you change: read the files concerned and the instructions the repository gives to contributors.
- Make the smallest change that does what was asked, in the style of the code around it.
- Check your work: run the tests, the type check or the program itself, and read what they print.
- Use file_editor to view and edit files, and terminal for everything else. Use absolute paths with file_editor.
- Keep a plan in task_tracker when the task has several steps.
- Leave commits, branches and pushes alone unless the user asks for them.
- Never print or write down the value of a secret. Secrets are in the terminal's environment; use them by name.
- When something fails twice in the same way, stop repeating it and look for the cause.

When the task is done, call finish with a short account of what you did, what you checked and what is left open.
When you need an answer from the user, ask in plain text without calling a tool.`;
}

/** What was left out after the first user message, and what is kept of it. */
export interface LeftOut {
  readonly trimmed: boolean;
  readonly summaries: readonly string[];
}

/** System text, then every turn, with a note where turns were left out. */
export function promptMessages(system: string, turns: readonly Turn[], left: LeftOut): ChatMessage[] {
  const firstUser = turns.findIndex((turn) => turn.kind === 'message' && turn.event.source === 'user');
  const messages: ChatMessage[] = [{ role: 'system', content: system }];
  turns.forEach((turn, index) => {
    messages.push(...turnMessages(turn));
    if (left.trimmed && index === Math.max(0, firstUser))
      messages.push({ role: 'user', content: [TRIMMED_NOTE, ...left.summaries].join('\n\n') });
  });
  return messages;
}

/** The chat messages of one turn: a message, or an assistant message with the results of its calls. */
export function turnMessages(turn: Turn): ChatMessage[] {
  return turn.kind === 'message' ? messageOfTurn(turn) : messagesOfActions(turn);
}

function messageOfTurn({ event }: MessageTurn): ChatMessage[] {
  const content = [...event.llm_message.content, ...event.extended_content];
  if (event.source === 'agent') return [{ role: 'assistant', content: plainText(content) }];
  const hasImage = content.some((part) => part.type === 'image');
  return [{ role: 'user', content: hasImage ? content.flatMap(chatParts) : plainText(content) }];
}

function chatParts(part: Content): Record<string, unknown>[] {
  if (part.type === 'text') return [{ type: 'text', text: part.text }];
  return part.image_urls.map((url) => ({ type: 'image_url', image_url: { url } }));
}

function messagesOfActions({ steps }: ActionTurn): ChatMessage[] {
  const thought = plainText(steps.flatMap((step) => step.action.thought));
  const calls = steps.map(({ action }): ChatToolCall => {
    const { name, arguments: text } = action.tool_call;
    // Endpoints refuse a history with broken arguments; the error result quotes what the model wrote.
    const readable = isObject(jsonOrNull(text)) ? text : '{}';
    return { id: action.tool_call_id, type: 'function', function: { name, arguments: readable } };
  });
  const results = steps.map(({ action, result }): ChatMessage => ({
    role: 'tool',
    tool_call_id: action.tool_call_id,
    content: resultText(result),
  }));
  return [{ role: 'assistant', content: thought === '' ? null : thought, tool_calls: calls }, ...results];
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function resultText(result: ActionResult | null): string {
  // An endpoint refuses a tool call without a result, so one that has none yet says so.
  if (result === null) return 'The action has not been run yet.';
  switch (result.kind) {
    case 'ObservationEvent':
      return observationText(result.observation);
    case 'UserRejectObservation':
      return `The ${result.rejection_source} rejected this action: ${result.rejection_reason}`;
    case 'AgentErrorEvent':
      return `Error: ${result.error}`;
    default:
      return result satisfies never;
  }
}
