/**
 * Events of a transcript as texts, whatever Agent Server wrote them.
 * Owns the reading: a field that is not as expected is passed over and never an error.
 */
import type { StreamedEvent } from '../../api/client/client.ts';

export type TranscriptEvent = StreamedEvent['event'];
type Fields = Readonly<Record<string, unknown>>;

/** One event as it is drawn. */
export interface EventText {
  /** Who speaks, or what it is. */
  readonly who: string;
  readonly look: 'user' | 'agent' | 'action' | 'result' | 'trouble' | 'state';
  /** In one line; empty when the body says it all. */
  readonly head: string;
  readonly body: string;
  /** Shown as it is, in a fixed width. */
  readonly isCode: boolean;
}

export function textField(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

/** Content as a list of blocks, one block, or a plain text. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content))
    return content
      .map(contentText)
      .filter((text) => text !== '')
      .join('\n');
  if (typeof content === 'object' && content !== null) return textField(content as Fields, 'text');
  return '';
}

/** What a tool was called with, shortest form first: a command, else the arguments as JSON. */
export function argumentsOf(event: TranscriptEvent): string {
  const action = fieldsOf(event['action']);
  const command = textField(action, 'command');
  const file = textField(action, 'path');
  if (command !== '') return file === '' ? command : `${command} ${file}`;
  const { kind: _kind, ...rest } = action;
  if (Object.keys(rest).length > 0)
    return contentText(rest['message'] ?? rest['thought']) || JSON.stringify(rest, null, 2);
  return textField(fieldsOf(event['tool_call']), 'arguments');
}

export function eventText(event: TranscriptEvent): EventText {
  const tool = textField(event, 'tool_name');
  switch (event.kind) {
    case 'MessageEvent': {
      const isUser = event['source'] === 'user';
      const body = contentText(fieldsOf(event['llm_message'])['content']);
      return {
        who: isUser ? 'You' : 'Agent',
        look: isUser ? 'user' : 'agent',
        head: '',
        body,
        isCode: false,
      };
    }
    case 'ActionEvent': {
      const head = textField(event, 'summary') || contentText(event['thought']);
      if (tool === 'finish')
        return {
          who: 'Agent finished',
          look: 'agent',
          head: '',
          body: argumentsOf(event) || head,
          isCode: false,
        };
      return { who: tool || 'Action', look: 'action', head, body: argumentsOf(event), isCode: true };
    }
    case 'ObservationEvent': {
      const observation = fieldsOf(event['observation']);
      const isError = observation['is_error'] === true;
      const body = contentText(observation['content']) || NO_OUTPUT;
      return {
        who: `${tool || 'Tool'} ${isError ? 'failed' : 'answered'}`,
        look: isError ? 'trouble' : 'result',
        head: '',
        body,
        isCode: true,
      };
    }
    case 'UserRejectObservation':
      return trouble('Rejected', textField(event, 'rejection_reason'));
    case 'AgentErrorEvent':
      return trouble(`${tool || 'Agent'} error`, textField(event, 'error'));
    case 'ConversationErrorEvent':
      return trouble(errorHead(textField(event, 'code')), textField(event, 'detail'));
    case 'ConversationStateUpdateEvent':
      return event['key'] === MODEL_TROUBLE ? modelTrouble(event['value']) : state(stateText(event));
    case 'Condensation':
      return state('Older steps were summed up');
    case 'PauseEvent':
    case 'InterruptEvent':
      return state('Stopped by the user');
    default:
      return state(event.kind.replace(/Event$/, ''));
  }
}

/** Of errors that are Parley's own words; those of an agent stand under their code. */
function errorHead(code: string): string {
  if (code === 'start_failed') return 'The start failed';
  return code === 'message_refused' ? 'Not delivered' : code || 'Error';
}

const NO_OUTPUT = 'No output';

/** Events that only machines read. */
export function isForPeople(event: TranscriptEvent): boolean {
  if (event.kind === 'SystemPromptEvent') return false;
  if (event.kind !== 'ConversationStateUpdateEvent') return true;
  return event['key'] === 'execution_status' || event['key'] === MODEL_TROUBLE;
}

/** The agent's call of its model failed and is tried again, or does so no longer. */
const MODEL_TROUBLE = 'model_trouble';

function modelTrouble(value: unknown): EventText {
  if (value === null) return state('The model can be reached again');
  const { cause, tries } = fieldsOf(value);
  return trouble(
    'Model',
    `Try ${String(tries)} failed and is repeated: ${typeof cause === 'string' ? cause : ''}`,
  );
}

function stateText(event: TranscriptEvent): string {
  const value = event['value'];
  return typeof value === 'string'
    ? `Agent is ${value.toLowerCase().replaceAll('_', ' ')}`
    : textField(event, 'key');
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function trouble(who: string, body: string): EventText {
  return { who, look: 'trouble', head: '', body, isCode: false };
}

function state(head: string): EventText {
  return { who: '', look: 'state', head, body: '', isCode: false };
}

const FAILED = new Set(['ERROR', 'STUCK']);

/** Null for an agent that has not failed. The last error counts: what came before it, it has outlived. */
export function failureText(executionStatus: string | null, events: readonly StreamedEvent[]): string | null {
  if (!FAILED.has((executionStatus ?? '').toUpperCase())) return null;
  const last = events.findLast(({ event: { kind } }) => kind.endsWith('ErrorEvent'))?.event;
  if (last === undefined) return 'no reason was given.';
  const code = textField(last, 'code');
  const detail = textField(last, 'detail') || textField(last, 'error');
  return [code, detail].filter((part) => part !== '').join(': ');
}
