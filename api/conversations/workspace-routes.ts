/**
 * Reading the workspace of a conversation: files, Git, skills, hooks.
 * Owns the routes; each resumes a released sandbox (D7) and refuses a path that leads out.
 */
import { posix } from 'node:path';
import { z } from 'zod';
import type { World } from '../../activities/world.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { quoted } from '../../core/text/shell-word.ts';
import type { Application, Principal } from '../application/application.ts';
import { route } from '../application/route.ts';
import { invalid } from '../application/validation.ts';
import type { conversationParams } from '../application/wire.ts';
import { findConversation, OF_CONVERSATION } from './find-conversation.ts';
import { hookSchema, hooksOf, skillSchema, skillsOf } from './skills.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

const OF_WORKSPACE = {
  ...OF_CONVERSATION,
  errors: [
    'not_found',
    'sandbox_starting',
    'sandbox_error',
    'sandbox_missing',
    'sandbox_resuming',
    'agent_unreachable',
    'agent_refused',
    'host_unreachable',
  ],
} as const;

const FILES_MAX = 10_000;
/** A file that a user views; it is in memory a few times while it is answered. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;
const LIST_TIMEOUT_MS = 60_000;
/** No program takes NUL in an argument; written `\x00`, which every reader of the document understands. */
const pathText = z
  .string()
  .max(4_096)
  .regex(new RegExp(String.raw`^[^\x00]*$`), 'Input should be a path');
const pathIn = pathText.optional();
const refIn = z
  .string()
  .regex(new RegExp(String.raw`^[^-\s\x00][^\s\x00]{0,199}$`))
  .optional();
const gitQuery = z.object({ path: pathIn, ref: refIn });

const changeSchema = z
  .object({ status: z.enum(['MOVED', 'ADDED', 'DELETED', 'UPDATED']), path: z.string() })
  .meta({ id: 'GitChange' });
const diffSchema = z
  .object({ modified: z.string().nullable(), original: z.string().nullable() })
  .meta({ id: 'GitDiff' });

export const WORKSPACE_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/:conversation_id/file',
    operation: 'read_workspace_file',
    summary: 'The text of one file of the workspace.',
    ...OF_WORKSPACE,
    query: z.object({ file_path: pathText.min(1).default('/workspace/project/PLAN.md') }),
    result: z.string(),
    handler: async ({ application, caller, params, query }) => {
      try {
        return await readText(application, await enter(application, caller, params), query.file_path);
      } catch (error) {
        if (application.dialect.hidesFileErrors && error instanceof ParleyError) return '';
        throw error;
      }
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/:conversation_id/file/download',
    operation: 'download_workspace_file',
    summary: 'The bytes of one file of the workspace.',
    ...OF_WORKSPACE,
    query: z.object({ file_path: pathText.min(1) }),
    result: 'application/octet-stream',
    handler: async ({ application, caller, params, query, reply }) => {
      const workspace = await enter(application, caller, params);
      const bytes = await readBytes(application, workspace, query.file_path);
      const name = encodeURIComponent(query.file_path.slice(query.file_path.lastIndexOf('/') + 1));
      await reply
        .type('application/octet-stream')
        .header('content-disposition', `attachment; filename*=UTF-8''${name}`)
        .send(Buffer.from(bytes));
      return null;
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/:conversation_id/files',
    operation: 'list_workspace_files',
    summary: 'Paths of the files of the workspace, relative to it.',
    ...OF_WORKSPACE,
    query: z.object({ path: pathIn }),
    result: z.array(z.string()),
    handler: async ({ application, caller, params, query }) => {
      const workspace = await enter(application, caller, params);
      return await listFiles(application, workspace, workspacePath(workspace, query.path ?? '.', 'path'));
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/:conversation_id/git/changes',
    operation: 'list_git_changes',
    summary: 'Files that differ from the commit the work began at, or from `ref`.',
    ...OF_WORKSPACE,
    query: gitQuery,
    result: z.array(changeSchema),
    handler: async ({ application, caller, params, query }) => {
      const workspace = await enter(application, caller, params);
      const path = workspacePath(workspace, query.path ?? '.', 'path');
      const { agent } = application.world;
      const changes = await sinceBase(workspace, query.ref, (ref) =>
        agent.gitChanges(workspace.target, { path, ref }),
      );
      return [...changes];
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/:conversation_id/git/diff',
    operation: 'read_git_diff',
    summary: 'One file as it was when the work began, or at `ref`, and as it is.',
    ...OF_WORKSPACE,
    query: z.object({ path: pathText.min(1), ref: refIn }),
    result: diffSchema,
    handler: async ({ application, caller, params, query }) => {
      const workspace = await enter(application, caller, params);
      const path = workspacePath(workspace, query.path, 'path');
      const { agent } = application.world;
      return await sinceBase(workspace, query.ref, (ref) => agent.gitDiff(workspace.target, { path, ref }));
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/:conversation_id/skills',
    operation: 'list_skills',
    summary: 'Skills that the workspace brings.',
    ...OF_WORKSPACE,
    result: z.object({ skills: z.array(skillSchema) }),
    handler: async ({ application, caller, params }) => ({
      skills: await skillsOf(application.world, await enter(application, caller, params)),
    }),
  }),
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/:conversation_id/hooks',
    operation: 'list_hooks',
    summary: 'Hooks that the workspace configures.',
    ...OF_WORKSPACE,
    result: z.object({ hooks: z.array(hookSchema) }),
    handler: async ({ application, caller, params }) => ({
      hooks: await hooksOf(application.world, await enter(application, caller, params)),
    }),
  }),
] as const;

/**
 * Against the commit where the work began, as the results of a job are; a repository that the agent made or fetched
 * itself does not know that commit and is read against its own beginning.
 */
async function sinceBase<T>(
  { baseCommit, otherBase }: Workspace,
  ref: string | undefined,
  read: (ref: string | null) => Promise<T>,
): Promise<T> {
  if (ref !== undefined || baseCommit === null) return await read(ref ?? null);
  try {
    return await read(baseCommit);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'agent_refused') throw error;
    return await read(otherBase);
  }
}

async function enter(
  application: Application,
  caller: Principal,
  { conversation_id: id }: z.output<typeof conversationParams>,
): Promise<Workspace> {
  return await openWorkspace(application, await findConversation(application, caller, id));
}

async function readText(application: Application, workspace: Workspace, path: string): Promise<string> {
  const content = await readBytes(application, workspace, path);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw invalid(['query', 'file_path'], 'The file is no text');
  }
}

async function readBytes({ world }: Application, workspace: Workspace, path: string): Promise<Uint8Array> {
  const named = workspacePath(workspace, path, 'file_path');
  const file = await regularFile(world, workspace, named);
  const content = await world.agent
    .readFile(workspace.target, file, FILE_BYTES_MAX)
    .catch((error: unknown): never => {
      const isTooLarge = error instanceof ParleyError && error.details['bytesMax'] !== undefined;
      throw isTooLarge
        ? invalid(['query', 'file_path'], `The file has more than ${FILE_BYTES_MAX} bytes`)
        : error;
    });
  if (content === null) throw new ParleyError('not_found', 'File not found');
  return content;
}

async function listFiles({ world }: Application, workspace: Workspace, dir: string): Promise<string[]> {
  const { target, workingDir } = workspace;
  const command = `cd -- ${quoted(dir)} && find . -path ./.git -prune -o -type f -print0 | head -z -n ${FILES_MAX} | base64`;
  const result = await world.agent.execute(target, { command, workingDir, timeoutMs: LIST_TIMEOUT_MS });
  if (result.exitCode !== 0) throw new ParleyError('not_found', 'Folder not found');
  const names = Buffer.from(result.stdout, 'base64')
    .toString('utf8')
    .split('\0')
    .filter((name) => name !== '');
  return names.map((name) => name.replace(/^\.\//, '')).sort();
}

const PATH_CHARS_MAX = 4_096;
const POLL_TIMEOUT_MS = 30_000;
/** Where the reference product has its project; clients spell paths with it. */
const PROJECT_DIR = '/workspace/project';

/** The absolute path inside the sandbox; relative ones begin in the working directory. @throws InvalidRequest */
function workspacePath({ workingDir }: Workspace, path: string, field: string): string {
  if (path.length > PATH_CHARS_MAX || path.includes('\0'))
    throw invalid(['query', field], 'Input should be a path');
  const isOfProject = path === PROJECT_DIR || path.startsWith(`${PROJECT_DIR}/`);
  const anchored = isOfProject && !isInside(workingDir, path) ? `.${path.slice(PROJECT_DIR.length)}` : path;
  const full = posix.resolve(workingDir, anchored);
  if (!isInside(workingDir, full)) throw invalid(['query', field], 'The path leads out of the workspace');
  return full;
}

function isInside(dir: string, path: string): boolean {
  return path === dir || path.startsWith(`${dir}/`);
}

const NOT_THERE = 44;
const NO_FILE = 45;
const OUTSIDE = 46;

/**
 * The file behind the path with every link on its way resolved, where the links are.
 * @throws ParleyError not_found; InvalidRequest when it is no regular file or lies outside
 */
async function regularFile(world: World, workspace: Workspace, path: string): Promise<string> {
  const { target, workingDir } = workspace;
  const command = [
    `root=$(cd -- ${quoted(workingDir)} && pwd -P) || exit ${NOT_THERE}`,
    `file=$(realpath -e -- ${quoted(path)} 2>/dev/null) || exit ${NOT_THERE}`,
    `case "$file" in "$root"/*) ;; *) exit ${OUTSIDE} ;; esac`,
    `[ -f "$file" ] || exit ${NO_FILE}`,
    'printf %s "$file"',
  ].join('\n');
  const result = await world.agent.execute(target, { command, workingDir, timeoutMs: POLL_TIMEOUT_MS });
  switch (result.exitCode) {
    case 0:
      return result.stdout;
    case NOT_THERE:
      throw new ParleyError('not_found', 'File not found');
    case NO_FILE:
      throw invalid(['query', 'file_path'], 'The path is no regular file');
    case OUTSIDE:
      throw invalid(['query', 'file_path'], 'The path leads out of the workspace');
    default:
      throw new ParleyError('agent_refused', `Cannot look for the file: exit code ${result.exitCode}`);
  }
}
