/**
 * The workspace behind an Agent Server: shell, files, Git.
 * Owns these endpoints; spelling is in wire.ts, transport in call.ts.
 */
import { posix } from 'node:path';
import { FormData } from 'undici';
import { ParleyError } from '../../core/parley-error.ts';
import type { AgentServer, AgentTarget, CommandResult } from '../../ports/agent-server.ts';
import { jsonOf, type Caller } from './call.ts';
import {
  CONTENT_BYTES_MAX,
  EVENTS_PER_PAGE,
  EXECUTE_MARGIN_MS,
  OUTPUT_BYTES_MAX,
  OUTPUT_PAGES_MAX,
} from './limits.ts';
import {
  bashOutputSchema,
  bashPageSchema,
  gitChangesSchema,
  gitDiffSchema,
  readPatchFindings,
  parseAnswer,
  serverInfoSchema,
} from './wire.ts';
import type { BashOutput } from './wire.ts';

type WorkspaceCalls = Pick<
  AgentServer,
  'idleSeconds' | 'execute' | 'readFile' | 'writeFile' | 'patch' | 'gitChanges' | 'gitDiff'
>;

/** Exit code of a command whose time ran out. */
const TIMED_OUT = -1;

export function createWorkspaceCalls(call: Caller): WorkspaceCalls {
  return {
    async idleSeconds(target) {
      const answer = await call(target, { method: 'GET', path: '/server_info' });
      return parseAnswer(serverInfoSchema, jsonOf(answer)).idle_time;
    },
    execute: (target, command) => execute(call, target, command),
    async readFile(target, path, bytesMax = CONTENT_BYTES_MAX) {
      const accepted = [404];
      const answer = await call(target, {
        method: 'GET',
        path: '/api/file/download',
        query: { path },
        accepted,
        bytesMax,
      });
      return answer.status === 404 ? null : answer.body;
    },
    async writeFile(target, path, content) {
      const form = new FormData();
      form.set('file', new Blob([Uint8Array.from(content)]), posix.basename(path));
      await call(target, { method: 'POST', path: '/api/file/upload', query: { path }, form });
    },
    async gitChanges(target, request) {
      const answer = await call(target, {
        method: 'GET',
        path: '/api/git/changes',
        query: gitQuery(request),
      });
      return parseAnswer(gitChangesSchema, jsonOf(answer));
    },
    async gitDiff(target, request) {
      const answer = await call(target, {
        method: 'GET',
        path: '/api/git/diff',
        query: gitQuery(request),
      });
      const { modified = null, original = null } = parseAnswer(gitDiffSchema, jsonOf(answer));
      return { modified, original };
    },
    async patch(target, { path, baseCommit }) {
      const query = { path, ref: baseCommit };
      const answer = await call(target, {
        method: 'GET',
        path: '/api/git/patch',
        query,
        bytesMax: CONTENT_BYTES_MAX,
      });
      return { content: answer.body, findings: readPatchFindings(answer.header('x-patch-findings')) };
    },
  };
}

function gitQuery({ path, ref }: { readonly path: string; readonly ref: string | null }) {
  return { path, ...(ref === null ? {} : { ref }) };
}

async function execute(
  call: Caller,
  target: AgentTarget,
  command: Parameters<AgentServer['execute']>[1],
): Promise<CommandResult> {
  const answer = await call(target, {
    method: 'POST',
    path: '/api/bash/execute_bash_command',
    json: {
      command: command.command,
      cwd: command.workingDir,
      timeout: Math.max(1, Math.ceil(command.timeoutMs / 1_000)),
    },
    timeoutMs: command.timeoutMs + EXECUTE_MARGIN_MS,
  });
  const last = parseAnswer(bashOutputSchema, jsonOf(answer));
  const parts = (last.order ?? 0) > 0 ? await allOutput(call, target, last) : [last];
  const join = (read: (part: BashOutput) => string | null | undefined): string =>
    parts.map((part) => read(part) ?? '').join('');
  return {
    exitCode: last.exit_code ?? TIMED_OUT,
    stdout: join((part) => part.stdout),
    stderr: join((part) => part.stderr),
  };
}

/** Long output comes in several rows, of which the answer was the last one. */
async function allOutput(
  call: Caller,
  target: AgentTarget,
  last: BashOutput,
): Promise<readonly BashOutput[]> {
  if (last.command_id === null || last.command_id === undefined) return [last];
  const rows: BashOutput[] = [];
  let bytes = 0;
  let pageId: string | null = null;
  for (let page = 0; page < OUTPUT_PAGES_MAX; page += 1) {
    const query: Record<string, string> = {
      kind__eq: 'BashOutput',
      command_id__eq: last.command_id,
      limit: String(EVENTS_PER_PAGE),
      ...(pageId === null ? {} : { page_id: pageId }),
    };
    const answer = await call(target, { method: 'GET', path: '/api/bash/bash_events/search', query });
    const { items, next_page_id: nextPageId } = parseAnswer(bashPageSchema, jsonOf(answer));
    bytes += answer.body.length;
    if (bytes > OUTPUT_BYTES_MAX)
      throw new ParleyError(
        'agent_refused',
        `Cannot read output of a command: more than ${OUTPUT_BYTES_MAX} bytes`,
      );
    rows.push(...items);
    if (nextPageId === null || nextPageId === undefined) break;
    pageId = nextPageId;
  }
  return rows.sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
}
