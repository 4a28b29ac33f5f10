/**
 * The work tree as an index of its own: committed, uncommitted and untracked files, .gitignore respected.
 * Owns a temporary index and a temporary object store, so that the agent's index and repository stay untouched.
 */
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';

import { git, line } from './git.ts';

/** Exit codes of `git add --ignore-errors`: 1 means that files it could not read, or empty nested repositories, stayed out. */
const ADD_ACCEPTED = [0, 1];

/**
 * Runs `work` with an environment in which the index is the whole work tree.
 *
 * @throws GitError the work tree cannot be read
 */
export async function withSnapshot<T>(
  repository: string,
  work: (env: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const scratch = await mkdtemp(join(tmpdir(), 'parley-git-'));
  try {
    const pathOf = async (name: string): Promise<string> =>
      resolve(repository, line(await git(repository, ['rev-parse', '--git-path', name])));
    const objects = await pathOf('objects');
    const own = join(scratch, 'objects');
    await mkdir(own);
    const alternates = [objects, process.env['GIT_ALTERNATE_OBJECT_DIRECTORIES'] ?? ''].filter(
      (path) => path !== '',
    );
    const env = {
      GIT_INDEX_FILE: join(scratch, 'index'),
      GIT_OBJECT_DIRECTORY: own,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates.map(quoted).join(delimiter),
    };
    // A copy of the real index keeps sparse entries and makes the comparison fast; a fresh repository has none.
    await copyFile(await pathOf('index'), env.GIT_INDEX_FILE).catch(() => undefined);
    await git(repository, ['add', '--all', '--ignore-errors', '--', '.'], { env, accepted: ADD_ACCEPTED });
    return await work(env);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Git splits the list at colons unless an entry is quoted. */
function quoted(path: string): string {
  return /[:"\n]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&')}"` : path;
}
