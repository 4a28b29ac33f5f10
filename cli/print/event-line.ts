/**
 * One event of a transcript in one readable line.
 * Owns which part of an event is worth a line; events come as the Agent Server spelled them, so nothing is certain.
 */
import { SECOND_MS } from '../../core/time.ts';
import type { StoredEvent } from '../../ports/record-store.ts';
import { cut } from '../../host/terminal-text.ts';

/** A line that wraps twice is not read; the whole event is in `--json`. */
const TEXT_WIDTH = 180;

/** Null for events that say nothing to a person. */
export function eventLine(key: string, event: StoredEvent): string | null {
  const said = describe(event);
  if (said === null) return null;
  const time = event.timestamp.slice(11, 19);
  return `${time} ${key} ${said}`;
}

type Body = StoredEvent['body'];

/** What an agent says with the event, whole: a message of its own, or the last word with which it finishes; '' for all others. */
export function agentWords(kind: string, body: Body): string {
  if (kind === 'MessageEvent' && body['source'] === 'agent')
    return contentText(field(body, 'llm_message', 'content'));
  if (kind !== 'ActionEvent' || field(body, 'action', 'kind') !== 'FinishAction') return '';
  return text(field(body, 'action', 'message'));
}

function describe({ kind, body }: StoredEvent): string | null {
  switch (kind) {
    case 'MessageEvent':
      return `${text(body['source']) || 'message'}: ${oneLine(contentText(field(body, 'llm_message', 'content')))}`;
    case 'ActionEvent':
      return `${text(body['tool_name']) || 'action'}> ${oneLine(actionText(body))}`;
    case 'ObservationEvent':
      return `${text(body['tool_name']) || 'result'}< ${oneLine(contentText(field(body, 'observation', 'content')))}`;
    case 'UserRejectObservation':
      return `rejected: ${oneLine(text(body['rejection_reason']))}`;
    case 'AgentErrorEvent':
      return `error: ${oneLine(text(body['error']))}`;
    case 'ConversationErrorEvent':
      return `error: ${oneLine(`${text(body['code'])} ${text(body['detail'])}`)}`;
    case 'ConversationStateUpdateEvent':
      return stateText(body);
    case 'PauseEvent':
      return 'paused';
    case 'InterruptEvent':
      return 'interrupted';
    case 'Condensation':
      return 'context condensed';
    case 'SystemPromptEvent':
      return null;
    default:
      return kind;
  }
}

/** Statuses are news; counters and metrics change all the time. */
function stateText(body: Body): string | null {
  if (body['key'] === 'model_trouble') return modelTrouble(body['value']);
  if (body['key'] !== 'execution_status') return null;
  return `status: ${text(body['value']) || 'unknown'}`;
}

/** The agent calls its model again, or does so no longer. */
function modelTrouble(value: unknown): string {
  if (value === null) return 'model: the trouble is over';
  const [cause, tries, waitMs] = [field(value, 'cause'), field(value, 'tries'), field(value, 'wait_ms')];
  return oneLine(
    `model: try ${String(tries)} failed, next in ${Number(waitMs) / SECOND_MS} s: ${text(cause)}`,
  );
}

/** What the action is about: its command, its path, or its fields. */
function actionText(body: Body): string {
  const action = body['action'];
  if (typeof action !== 'object' || action === null) return text(field(body, 'tool_call', 'arguments'));
  const { kind: _kind, ...fields } = action as Record<string, unknown>;
  const command = text(fields['command']);
  const path = text(fields['path']);
  if (command !== '') return path === '' ? command : `${command} ${path}`;
  return text(fields['message']) || JSON.stringify(fields);
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => text(field(part, 'text'))).join(' ');
}

function field(value: unknown, ...names: readonly string[]): unknown {
  let current = value;
  for (const name of names) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string, unknown>)[name];
  }
  return current;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function oneLine(value: string): string {
  return cut(value.replaceAll(/\s+/g, ' ').trim(), TEXT_WIDTH);
}
