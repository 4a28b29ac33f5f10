/**
 * Running the hooks of one event, and what they answer to it.
 * Owns how a command gets the event and how its exit is read: 0 lets it pass, 2 forbids it, else it is only reported.
 */
import { runChild } from '../workspace/child.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { environmentMessage } from '../conversation/event.ts';
import { jsonOrNull } from '../model/llm-response.ts';
import { messageOf } from '../serve/log.ts';
import { shellEnvironment } from '../workspace/shell-environment.ts';
import { ByteWindow } from '../text-bound.ts';
import { hookWord, hooksFor, type Hook, type HookEventName } from './hook-config.ts';

/** What hooks print here reaches the next model call; after the last call no model reads it. */
const ADDS_TO_PROMPT: ReadonlySet<HookEventName> = new Set([
  'session_start',
  'user_prompt_submit',
  'pre_tool_use',
  'post_tool_use',
]);
const DENIALS: ReadonlySet<unknown> = new Set(['deny', 'block']);
const OUTPUT_BYTES_MAX = 64 * 1024;
const FORBIDDEN = 2;
/** Command and event come over a descriptor of their own: an argument would be seen by every process. */
const DRIVER = `IFS= read -r -d '' -u 3 __hook; IFS= read -r -d '' -u 3 __event; exec 3<&-; printf '%s' "$__event" | eval "$__hook"`;

interface HookCall {
  readonly event: HookEventName;
  readonly toolName?: string;
  readonly toolInput?: unknown;
  readonly toolResponse?: unknown;
  readonly message?: string;
  readonly actionId?: string;
  readonly messageId?: string;
}

interface HookSurroundings {
  readonly secrets: () => Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Why the event must not go on; null when it may. Every command that is run has an event of its own. */
export async function runHooks(
  conversation: Conversation,
  call: HookCall,
  around: HookSurroundings,
): Promise<string | null> {
  let forbidden: string | null = null;
  for (const hook of hooksFor(conversation.meta.hook_config, call.event, call.toolName ?? null)) {
    const reason = await runHook(conversation, { hook, call }, around);
    forbidden ??= reason;
    if (forbidden !== null) break;
  }
  return forbidden;
}

async function runHook(
  conversation: Conversation,
  { hook, call }: { readonly hook: Hook; readonly call: HookCall },
  around: HookSurroundings,
): Promise<string | null> {
  const { id, meta } = conversation;
  const input = {
    event_type: hookWord(call.event),
    tool_name: call.toolName ?? null,
    tool_input: call.toolInput ?? null,
    tool_response: call.toolResponse ?? null,
    message: call.message ?? null,
    session_id: id,
    working_dir: meta.working_dir,
    metadata: {},
  };
  const ended = await execute(conversation, { hook, input }, around);
  const said = jsonOrNull(ended.stdout);
  const words = (typeof said === 'object' && said !== null ? said : {}) as Readonly<Record<string, unknown>>;
  const isForbidden =
    ended.exitCode === FORBIDDEN ||
    (ended.exitCode === 0 && (DENIALS.has(words['decision']) || words['continue'] === false));
  const reason = typeof words['reason'] === 'string' ? words['reason'] : ended.stderr.trim();
  const context = words['additionalContext'];
  conversation.append({
    kind: 'HookExecutionEvent',
    source: 'hook',
    hook_event_type: hookWord(call.event),
    hook_command: hook.command,
    tool_name: call.toolName ?? null,
    success: ended.exitCode === 0 || ended.exitCode === FORBIDDEN,
    blocked: isForbidden,
    exit_code: ended.exitCode,
    stdout: ended.stdout,
    stderr: ended.stderr,
    reason: reason === '' ? null : reason,
    additional_context: typeof context === 'string' ? context : null,
    error: ended.error,
    action_id: call.actionId ?? null,
    message_id: call.messageId ?? null,
    hook_input: null,
  });
  if (typeof context === 'string' && context !== '' && ADDS_TO_PROMPT.has(call.event))
    conversation.append(environmentMessage(context));
  if (!isForbidden) return null;
  return reason === '' ? `the hook "${hook.command}" forbids it` : reason;
}

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly error: string | null;
}

async function execute(
  { meta }: Conversation,
  { hook, input }: { readonly hook: Hook; readonly input: Readonly<Record<string, unknown>> },
  around: HookSurroundings,
): Promise<Ended> {
  const stdout = new ByteWindow(OUTPUT_BYTES_MAX);
  const stderr = new ByteWindow(OUTPUT_BYTES_MAX);
  const variables = {
    OPENHANDS_EVENT_TYPE: String(input['event_type']),
    OPENHANDS_TOOL_NAME: String(input['tool_name'] ?? ''),
    OPENHANDS_PROJECT_DIR: meta.working_dir,
    OPENHANDS_SESSION_ID: String(input['session_id']),
  };
  const run = runChild({
    program: 'bash',
    args: ['-c', DRIVER],
    cwd: meta.working_dir,
    env: { ...shellEnvironment(around.secrets()), ...variables },
    script: `${hook.command}\0${JSON.stringify(input)}\0`,
    timeoutMs: hook.timeout * 1000,
    onStdout: (chunk) => stdout.push(chunk),
    onStderr: (chunk) => stderr.push(chunk),
    signal: around.signal,
  });
  // The run does not wait for a hook that is asynchronous, and such a hook can forbid nothing.
  if (hook.async) {
    run.catch(() => undefined);
    return { exitCode: 0, stdout: '', stderr: '', error: null };
  }
  try {
    const exitCode = await run;
    const error = exitCode === null ? `no end within ${hook.timeout} s` : null;
    return { exitCode: exitCode ?? -1, stdout: stdout.text(), stderr: stderr.text(), error };
  } catch (error) {
    return { exitCode: -1, stdout: '', stderr: '', error: messageOf(error) };
  }
}
