/**
 * What a real OpenHands Agent Server wants said in another way than the reference one, which has routes of its own.
 * Owns these calls: messages that are sent once, runs that approve nothing, patches; spelling is in wire.ts.
 */
import { randomUUID } from 'node:crypto';
import { hyphenatedUuid, type ConversationId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { quoted } from '../../core/text/shell-word.ts';
import type { AgentServer, AgentTarget, WorkspacePatch } from '../../ports/agent-server.ts';
import { jsonOf, type Caller } from './call.ts';
import { EVENTS_PER_PAGE, MESSAGE_PAGES_MAX, PATCHED_FILE_BYTES_MAX, PATCH_TIMEOUT_MS } from './limits.ts';
import { eventPageSchema, parseAnswer, readView } from './wire.ts';

type DialectCalls = Pick<AgentServer, 'sendMessage' | 'run' | 'events' | 'patch'>;

export function openhandsDialect(call: Caller, base: AgentServer): DialectCalls {
  return {
    sendMessage: (target, id, message) => sendOnce(call, { target, id, message }),
    // There a run accepts what waits for the user, which only the user may do (D8).
    async run(target, id) {
      const view = await base.conversation(target, id);
      if (view?.executionStatus !== 'WAITING_FOR_CONFIRMATION') await base.run(target, id);
    },
    async events(target, id, pageId) {
      const page = await base.events(target, id, pageId);
      return { ...page, items: page.items.map(withoutMark) };
    },
    patch: (target, request) => patchByShell(base, target, request),
  };
}

/** A block of the message itself, because the server keeps nothing else that a caller chose. */
function markOf(messageId: string): string {
  return `<!-- message ${messageId} -->`;
}

const MARK = /^<!-- message [0-9a-f-]{36} -->$/;

function withoutMark<E extends { readonly kind: string; readonly [field: string]: unknown }>(event: E): E {
  const message = event['llm_message'];
  if (event.kind !== 'MessageEvent' || typeof message !== 'object' || message === null) return event;
  const { content } = message as { readonly content?: unknown };
  if (!Array.isArray(content)) return event;
  const kept = content.filter((block: unknown) => !MARK.test(textOf(block)));
  return { ...event, llm_message: { ...message, content: kept } };
}

function textOf(block: unknown): string {
  const text = typeof block === 'object' && block !== null && 'text' in block ? block.text : '';
  return typeof text === 'string' ? text : '';
}

interface Sending {
  readonly target: AgentTarget;
  readonly id: ConversationId;
  readonly message: { readonly messageId: string; readonly text: string; readonly run: boolean };
}

/** The server takes every message it is sent, so one is sent only after reading that it is absent. */
async function sendOnce(call: Caller, sending: Sending): Promise<void> {
  const { target, id, message } = sending;
  const path = `/api/conversations/${hyphenatedUuid(id)}`;
  if (await isThere(call, sending)) {
    // It came, and perhaps its run did not: an agent that rests on it has not begun.
    const view = readView(jsonOf(await call(target, { method: 'GET', path })));
    if (message.run && view?.executionStatus === 'IDLE')
      await call(target, { method: 'POST', path: `${path}/run`, accepted: [409] });
    return;
  }
  const content = [
    { type: 'text', text: message.text },
    { type: 'text', text: markOf(message.messageId) },
  ];
  const json = { role: 'user', content, run: message.run };
  await call(target, { method: 'POST', path: `${path}/events`, json });
}

/** @throws ParleyError agent_refused: the conversation has more messages than are read */
async function isThere(call: Caller, { target, id, message }: Sending): Promise<boolean> {
  const mark = markOf(message.messageId);
  let pageId: string | null = null;
  for (let page = 0; page < MESSAGE_PAGES_MAX; page += 1) {
    const query: Record<string, string> = {
      ...{ kind: 'MessageEvent', source: 'user', sort_order: 'TIMESTAMP_DESC' },
      ...{ limit: String(EVENTS_PER_PAGE), ...(pageId === null ? {} : { page_id: pageId }) },
    };
    const path = `/api/conversations/${hyphenatedUuid(id)}/events/search`;
    const answer = await call(target, { method: 'GET', path, query });
    const { items, next_page_id: nextPageId } = parseAnswer(eventPageSchema, jsonOf(answer));
    if (items.some((event) => JSON.stringify(event).includes(mark))) return true;
    if (nextPageId === null || nextPageId === undefined) return false;
    pageId = nextPageId;
  }
  throw new ParleyError('agent_refused', 'Cannot send message: the conversation has too many to look it up');
}

/** Shell words of the script, in which the server itself has no patch. The index of the agent stays untouched. */
async function patchByShell(
  base: AgentServer,
  target: AgentTarget,
  { path, baseCommit }: { readonly path: string; readonly baseCommit: string },
): Promise<WorkspacePatch> {
  const name = `parley-${randomUUID()}`;
  const script = [
    'set -e',
    `scratch="\${TMPDIR:-/tmp}/${name}"; mkdir -m 700 "$scratch"`,
    'git() { command git -c safe.directory="*" -c core.hooksPath=/dev/null -c core.fsmonitor=false "$@"; }',
    'top=$(git rev-parse --show-toplevel); cd "$top"',
    'cp "$(git rev-parse --git-path index)" "$scratch/index" 2>/dev/null || true',
    'export GIT_INDEX_FILE="$scratch/index"',
    // Read whole by Git, and a sparse file of terabytes for ever; it is listed as left out.
    `{ printf ":(top)\\0"; find . -name .git -prune -o -type f -size +${PATCHED_FILE_BYTES_MAX}c -print0 | sed -z "s|^\\./|:(exclude,top,literal)|"; } > "$scratch/paths"`,
    'git add --all --ignore-errors --pathspec-from-file="$scratch/paths" --pathspec-file-nul 2>/dev/null || true',
    'git ls-files -z --others --modified --exclude-standard | head -z -n 50 | tr "\\n\\0" " \\n" | uniq > "$scratch/left-out"',
    `git diff-index --cached --patch --binary --full-index --no-renames --no-ext-diff --no-textconv --no-color \\`,
    `  --src-prefix=a/ --dst-prefix=b/ ${quoted(baseCommit)} > "$scratch/patch"`,
    'printf "%s\\n" "$scratch"; cat "$scratch/left-out"',
  ].join('\n');
  const made = await base.execute(target, { command: script, workingDir: path, timeoutMs: PATCH_TIMEOUT_MS });
  if (made.exitCode !== 0)
    throw new ParleyError('agent_refused', `Cannot make patch: ${made.stderr.trim().slice(-300)}`);
  const [scratch = '', ...leftOut] = made.stdout.split('\n').filter((line) => line !== '');
  const patch = await base.readFile(target, `${scratch}/patch`);
  await base.execute(target, {
    command: `rm -rf -- ${quoted(scratch)}`,
    workingDir: path,
    timeoutMs: PATCH_TIMEOUT_MS,
  });
  if (patch === null) throw new ParleyError('agent_refused', 'Cannot make patch: it was removed meanwhile');
  const says = 'was left out: it cannot be read, is too large or is a repository of its own';
  const findings = leftOut.map((path) => `"${path.slice(0, 200)}" ${says}`);
  return { content: patch, findings };
}
