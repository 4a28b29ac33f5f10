/**
 * A tool call of the agent as an action and its observation, in the shapes of the reference. Pure.
 */
import { textContent } from '../conversation/event.ts';
import type { Action, ActionEvent, Observation, SecurityRisk } from '../conversation/event.ts';
import { OBSERVATION_CHARS_MAX } from '../limits.ts';
import { boundText } from '../text-bound.ts';
import { blockText, type ToolCallChange, type ToolContent, type ToolKind } from './wire-updates.ts';

/** A call as all updates about it amount to. */
export interface CallState {
  readonly id: string;
  readonly title: string;
  readonly name: string | null;
  readonly kind: ToolKind;
  readonly status: 'pending' | 'in_progress' | 'completed' | 'failed';
  readonly content: readonly ToolContent[];
  readonly locations: readonly { readonly path: string }[];
  readonly rawInput: unknown;
  readonly rawOutput: unknown;
}

export function changedCall(before: CallState | null, change: ToolCallChange): CallState {
  return {
    id: change.toolCallId,
    title: change.title ?? before?.title ?? '',
    name: change.name ?? before?.name ?? null,
    kind: change.kind ?? before?.kind ?? 'other',
    status: laterStatus(before?.status ?? 'pending', change.status ?? null),
    content: change.content ?? before?.content ?? [],
    locations: change.locations ?? before?.locations ?? [],
    rawInput: change.rawInput ?? before?.rawInput,
    rawOutput: change.rawOutput ?? before?.rawOutput,
  };
}

/** A call that has ended does not begin again, whatever update comes late. */
function laterStatus(before: CallState['status'], told: CallState['status'] | null): CallState['status'] {
  if (told === null || before === 'completed' || before === 'failed') return before;
  return before === 'in_progress' && told === 'pending' ? before : told;
}

/** Arguments of one call are kept up to this length; what agents write into files is longer only by mistake. */
const INPUT_CHARS_MAX = 64 * 1024;

export function actionOf(call: CallState): Action {
  const command = commandOf(call);
  if (command !== null)
    return { kind: 'TerminalAction', command, is_input: false, timeout: null, reset: false };
  return {
    kind: 'MCPToolAction',
    data: {
      title: call.title,
      kind: call.kind,
      ...(call.locations.length === 0 ? {} : { locations: call.locations.map(({ path }) => path) }),
      input: boundInput(call.rawInput),
    },
  };
}

/** As JSON, for the record of the call. */
export function argumentsOf(call: CallState): string {
  return boundText(JSON.stringify(call.rawInput ?? {}), INPUT_CHARS_MAX);
}

function boundInput(input: unknown): unknown {
  const text = JSON.stringify(input ?? {});
  return text.length <= INPUT_CHARS_MAX ? (input ?? {}) : boundText(text, INPUT_CHARS_MAX);
}

function commandOf({ kind, rawInput }: CallState): string | null {
  if (kind !== 'execute' || typeof rawInput !== 'object' || rawInput === null) return null;
  const command = (rawInput as { readonly command?: unknown }).command;
  if (typeof command === 'string') return boundText(command, INPUT_CHARS_MAX);
  const isList = Array.isArray(command) && command.every((word) => typeof word === 'string');
  return isList ? boundText(command.join(' '), INPUT_CHARS_MAX) : null;
}

/** The agent's own name of the tool, or what kind of tool it is. */
export function toolNameOf(call: CallState): string {
  return (call.name ?? (commandOf(call) === null ? call.kind : 'terminal')).slice(0, 200);
}

/** Reading and thinking change nothing; of everything else the agent says no risk. */
export function riskOf(kind: ToolKind): SecurityRisk {
  switch (kind) {
    case 'read':
    case 'search':
    case 'think':
      return 'LOW';
    case 'edit':
    case 'delete':
    case 'move':
    case 'execute':
    case 'fetch':
    case 'switch_mode':
    case 'other':
      return 'UNKNOWN';
    default:
      return kind satisfies never;
  }
}

export function observationOf(
  call: CallState,
  around: { readonly mask: (text: string) => string; readonly terminalText: (id: string) => string },
): Observation {
  const text = boundText(around.mask(resultText(call, around.terminalText)), OBSERVATION_CHARS_MAX);
  const isError = call.status === 'failed';
  const command = commandOf(call);
  const content = [textContent(text)];
  if (command === null)
    return { content, is_error: isError, tool_name: toolNameOf(call), kind: 'MCPToolObservation' };
  // The protocol does not say which code it ended with.
  return {
    content,
    is_error: isError,
    command,
    exit_code: null,
    timeout: false,
    kind: 'TerminalObservation',
  };
}

function resultText(call: CallState, terminalText: (id: string) => string): string {
  const parts = call.content.map((part) => {
    switch (part.type) {
      case 'content':
        return blockText(part.content);
      case 'diff':
        return diffText(part);
      case 'terminal':
        return terminalText(part.terminalId);
      default:
        return part satisfies never;
    }
  });
  if (parts.length > 0) return parts.join('\n');
  if (typeof call.rawOutput === 'string') return call.rawOutput;
  return call.rawOutput === undefined ? '' : JSON.stringify(call.rawOutput);
}

function diffText({ path, oldText, newText }: Extract<ToolContent, { type: 'diff' }>): string {
  const lines = (text: string, mark: string): string[] => text.split('\n').map((line) => `${mark}${line}`);
  return [`[${path}]`, ...(oldText ? lines(oldText, '-') : []), ...lines(newText, '+')].join('\n');
}

/** Equal for two requests that mean the same: what was approved before a stop is not put to the user again. */
export function askKey({ summary, tool_call: call }: ActionEvent): string {
  return JSON.stringify([summary ?? '', call.arguments]);
}
