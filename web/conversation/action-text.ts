/**
 * What an action does, read from its event whatever Agent Server wrote it.
 * Owns the reading: nothing of a command or an edit is left out, because the user may be about to approve it.
 */
import { argumentsOf, textField, type TranscriptEvent } from './event-text.ts';

export type ActionDetail =
  | { readonly kind: 'command'; readonly command: string }
  | {
      readonly kind: 'edit';
      readonly verb: string;
      readonly path: string;
      readonly before: string;
      readonly after: string;
    }
  | { readonly kind: 'other'; readonly text: string; readonly language: string };

type Fields = Readonly<Record<string, unknown>>;

const EDITS: Readonly<
  Record<string, (action: Fields) => readonly [verb: string, before: string, after: string]>
> = {
  create: (action) => ['Create', '', textField(action, 'file_text')],
  str_replace: (action) => ['Replace in', textField(action, 'old_str'), textField(action, 'new_str')],
  insert: (action) => [
    `Insert behind line ${String(action['insert_line'] ?? '?')} of`,
    '',
    textField(action, 'new_str'),
  ],
};

export function actionDetail(event: TranscriptEvent): ActionDetail {
  const action = fieldsOf(event);
  const command = textField(action, 'command');
  const path = textField(action, 'path');
  const edit = path !== '' && Object.hasOwn(EDITS, command) ? EDITS[command] : undefined;
  if (edit !== undefined) {
    const [verb, before, after] = edit(action);
    return { kind: 'edit', verb, path, before, after };
  }
  if (command !== '' && path === '') return withRest(command, action);
  const text = argumentsOf(event);
  return { kind: 'other', text, language: text.startsWith('{') ? 'json' : '' };
}

/** What says how a command runs: a default is left out, anything else is shown with it. */
const QUIET = new Set(['command', 'kind', 'security_risk', 'summary']);

function withRest(command: string, action: Fields): ActionDetail {
  const rest = Object.entries(action).filter(
    ([name, value]) => !QUIET.has(name) && value !== false && value !== null && value !== undefined,
  );
  if (rest.length === 0) return { kind: 'command', command };
  return { kind: 'command', command: `${command}\n# ${JSON.stringify(Object.fromEntries(rest))}` };
}

/** As it was read by the agent, else as the model spelled it. */
function fieldsOf(event: TranscriptEvent): Fields {
  const { action, tool_call: call } = event;
  if (isFields(action)) return action;
  if (!isFields(call)) return {};
  try {
    const parsed: unknown = JSON.parse(textField(call, 'arguments'));
    return isFields(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
