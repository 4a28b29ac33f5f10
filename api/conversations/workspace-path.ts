/**
 * Paths that clients name inside a workspace.
 * Owns that none leads out of it: neither by its spelling nor by a link on its way.
 */
import { posix } from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { quoted } from '../../core/text/shell-word.ts';
import type { World } from '../../activities/world.ts';
import { invalid } from '../application/validation.ts';
import type { Workspace } from './workspace.ts';

const PATH_CHARS_MAX = 4_096;
const POLL_TIMEOUT_MS = 30_000;
/** Where the reference product has its project; clients spell paths with it. */
const PROJECT_DIR = '/workspace/project';

/** The absolute path inside the sandbox; relative ones begin in the working directory. @throws InvalidRequest */
export function workspacePath({ workingDir }: Workspace, path: string, field: string): string {
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
export async function regularFile(world: World, workspace: Workspace, path: string): Promise<string> {
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
