/**
 * What changed in a repository since a base: list, two sides of one file, and one patch of everything.
 */
import { lstat, readlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

import { nameAsText } from '../git-findings.ts';
import { GitError, baseTree, git, line, nearestDirectory, pathsIn, repositoryOf } from './git.ts';
import { withSnapshot } from './git-snapshot.ts';
import { GIT_DIFF_SIDE_BYTES_MAX } from '../limits.ts';
import { readReachable } from '../tool-files.ts';

export interface GitChange {
  readonly status: 'ADDED' | 'DELETED' | 'UPDATED';
  /** Relative to the repository's top; a name that is no UTF-8 has its odd bytes as `\xNN`. */
  readonly path: string;
}

/** Renames are shown as a deletion and an addition: applying them needs no guess at similarity. */
const PLAIN = ['--no-renames', '--no-ext-diff', '--no-textconv'];

/** Changed files in path order; empty outside a repository. @throws GitError */
export async function gitChanges(path: string, ref: string | null): Promise<GitChange[]> {
  const repository = await repositoryOf(path);
  if (repository === null) return [];
  const base = await baseTree(repository, ref);
  const output = await withSnapshot({ repository, base }, ({ env }) =>
    git(repository, ['diff-index', '--cached', '--name-status', '-z', ...PLAIN, base], { env }),
  );
  const fields = pathsIn(output);
  const changes: GitChange[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [letter, name] = [fields[index], fields[index + 1]];
    if (letter !== undefined && name !== undefined)
      changes.push({ status: statusOf(letter.toString('latin1')), path: nameAsText(name) });
  }
  return changes;
}

function statusOf(letter: string): GitChange['status'] {
  if (letter === 'A') return 'ADDED';
  return letter === 'D' ? 'DELETED' : 'UPDATED';
}

export interface GitDiff {
  /** Null where the file does not exist on that side, is not text, or is too large. */
  readonly modified: string | null;
  readonly original: string | null;
}

/** Both sides of one file. @throws GitError outside a repository, or the ref is unknown */
export async function gitDiff(path: string, ref: string | null): Promise<GitDiff> {
  // What is behind a link, a folder too, is not the link.
  const folder = await nearestDirectory(dirname(path));
  const repository = await requireRepository(folder ?? path);
  const base = await baseTree(repository, ref);
  return { modified: await textOfFile(path), original: await textAtBase(folder ?? repository, base, path) };
}

/** Of a link its target, as Git has it: what is behind it is another file, or lies outside. */
async function textOfFile(path: string): Promise<string | null> {
  const found = await lstat(path).catch(() => null);
  if (found?.isSymbolicLink() === true) return textOrNull(await readlink(path, 'buffer'));
  if (found?.isFile() !== true || found.size > GIT_DIFF_SIDE_BYTES_MAX) return null;
  return textOrNull(await readReachable(path).catch(() => UNREADABLE));
}

/** From the folder Git itself says how far it is from the top: a link on the way there would count twice. */
async function textAtBase(folder: string, base: string, path: string): Promise<string | null> {
  try {
    const prefix = line(await git(folder, ['rev-parse', '--show-prefix']));
    const inside = `${prefix}${relative(folder, path)}`;
    const bytes = await git(folder, ['cat-file', 'blob', `${base}:${inside}`], {
      bytesMax: GIT_DIFF_SIDE_BYTES_MAX,
    });
    return textOrNull(bytes);
  } catch (error) {
    if (error instanceof GitError) return null;
    throw error;
  }
}

/** No text, as little as a file without permission. */
const UNREADABLE = Buffer.from([0]);

function textOrNull(bytes: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

interface GitPatch {
  readonly patch: Buffer;
  /** What is not in it although it is in the work tree, one sentence each. */
  readonly findings: readonly string[];
}

/**
 * One patch from the base commit to the files as they are, which `git apply` takes on that commit.
 * Bytes are as they stand in the files: a masked patch would not be the agent's work, and who collects it scans it (D20).
 *
 * @throws GitError outside a repository, unknown ref, or the patch is too large
 */
export async function gitPatch(path: string, ref: string | null): Promise<GitPatch> {
  const repository = await requireRepository(path);
  const base = await baseTree(repository, ref);
  const shape = [
    '--patch',
    '--binary',
    '--full-index',
    '--unified=3',
    '--inter-hunk-context=0',
    '--no-color',
  ];
  const prefixes = ['--src-prefix=a/', '--dst-prefix=b/', '--submodule=short', '--diff-algorithm=myers'];
  return await withSnapshot({ repository, base }, async ({ env, findings }) => ({
    patch: await git(repository, ['diff-index', '--cached', ...shape, ...prefixes, ...PLAIN, base], { env }),
    findings,
  }));
}

async function requireRepository(path: string): Promise<string> {
  const repository = await repositoryOf(path);
  if (repository === null) throw new GitError(`Cannot read repository "${join(path)}": there is none`);
  return repository;
}
