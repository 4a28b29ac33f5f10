/**
 * The work tree as an index of its own: committed, uncommitted and untracked files, .gitignore respected.
 * Owns a temporary index and a temporary object store, so that the agent's index and repository stay untouched; what
 * cannot be in it stays out and is named, and never keeps the rest from being there.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';

import { takeInNested } from '../git-nested.ts';
import { shownPath } from '../git-findings.ts';
import { git, line, outputOf, pathsIn } from './git.ts';
import { GIT_FILE_BYTES_MAX, GIT_FINDINGS_OF_KIND_MAX } from '../limits.ts';
import { removeReachable, writeReachable } from '../tool-files.ts';

/** Exit codes of `git add --ignore-errors`: 1 means that files it could not read, or empty nested repositories, stayed out. */
const ADD_ACCEPTED = [0, 1];

interface Snapshot {
  /** For calls of Git: the index is the whole work tree. */
  readonly env: Readonly<Record<string, string>>;
  /** What is not in it, or not as it stands in the work tree, and why: one sentence each. */
  readonly findings: readonly string[];
}

/** @throws GitError the work tree cannot be read */
export async function withSnapshot<T>(
  { repository, base }: { readonly repository: string; readonly base: string },
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const scratch = await mkdtemp(join(tmpdir(), 'parley-git-'));
  try {
    const env = await scratchEnvironment(repository, scratch);
    const findings: string[] = [];
    const odd = await oddFiles(repository, env);
    findings.push(...sentences(odd.special, 'is no file, folder or link, and was left out'));
    findings.push(...sentences(odd.large, `is larger than ${GIT_FILE_BYTES_MAX} bytes and was left out`));
    const pathspecs = join(scratch, 'pathspecs');
    const excluded = odd.large.flatMap((path) => [Buffer.from(':(exclude,top,literal)'), path, NUL]);
    await writeReachable(pathspecs, Buffer.concat([Buffer.from(':(top)'), NUL, ...excluded]));
    await git(
      repository,
      ['add', '--all', '--ignore-errors', `--pathspec-from-file=${pathspecs}`, '--pathspec-file-nul'],
      { env, accepted: ADD_ACCEPTED, onComplaint: (text) => findings.push(...closedFolders(text)) },
    );
    const missing = await leftOut(repository, env, odd.large);
    const isNested = (path: Buffer): boolean => path.at(-1) === SLASH;
    const unread = missing.filter((path) => !isNested(path));
    findings.push(...sentences(unread, 'cannot be read, or is being written, and was left out'));
    const nested = missing.filter(isNested).map((path) => path.subarray(0, -1));
    findings.push(...(await takeInNested({ repository, base, env, scratch }, nested)));
    return await work({ env, findings });
  } finally {
    await removeReachable(scratch);
  }
}

const NUL = Buffer.from([0]);
const SLASH = 0x2f;

async function scratchEnvironment(repository: string, scratch: string): Promise<Record<string, string>> {
  const pathOf = async (name: string): Promise<string> =>
    resolve(repository, line(await git(repository, ['rev-parse', '--git-path', name])));
  const objects = await pathOf('objects');
  const own = join(scratch, 'objects');
  const alternates = [objects, process.env['GIT_ALTERNATE_OBJECT_DIRECTORIES'] ?? ''].filter(
    (path) => path !== '',
  );
  const env = {
    GIT_INDEX_FILE: join(scratch, 'index'),
    GIT_OBJECT_DIRECTORY: own,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates.map(quoted).join(delimiter),
  };
  // A copy of the real index keeps sparse entries and makes the comparison fast; a fresh repository has none.
  const script = 'mkdir -- "$1" && { cp -- "$2" "$3" 2> /dev/null || :; }';
  const args = ['-c', script, 'sh', own, await pathOf('index'), env.GIT_INDEX_FILE];
  await outputOf('sh', { cwd: repository, args, what: 'mkdir' });
  return env;
}

/** Git splits the list at colons unless an entry is quoted. */
function quoted(path: string): string {
  return /[:"\n]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&')}"` : path;
}

interface OddFiles {
  /** Pipes, sockets and devices: Git passes over them without a word. */
  readonly special: readonly Buffer[];
  /** Read whole by Git, and a sparse one of terabytes for ever. */
  readonly large: readonly Buffer[];
}

/** Looked for by `find`, which also gets into folders whose path is too long to be spelled. */
async function oddFiles(repository: string, env: Readonly<Record<string, string>>): Promise<OddFiles> {
  const find = async (test: readonly string[]): Promise<readonly Buffer[]> => {
    const args = ['.', '-name', '.git', '-prune', '-o', ...test, '-print0'];
    const call = { cwd: repository, args, what: 'find' };
    // What it cannot look into it says with exit code 1; Git says the same.
    const found = pathsIn(await outputOf('find', call, { accepted: [0, 1] })).map((path) => path.subarray(2));
    return found.length === 0 ? [] : await notIgnored(repository, env, found);
  };
  const [special, large] = await Promise.all([
    find(['!', '-type', 'f', '!', '-type', 'd', '!', '-type', 'l']),
    find(['-type', 'f', '-size', `+${GIT_FILE_BYTES_MAX}c`]),
  ]);
  return { special, large };
}

/** Of paths that Git does not track, those that it ignores are of no interest. */
async function notIgnored(
  repository: string,
  env: Readonly<Record<string, string>>,
  paths: readonly Buffer[],
): Promise<readonly Buffer[]> {
  const list = `${env['GIT_INDEX_FILE'] ?? ''}.${paths.length}.${paths[0]?.length ?? 0}.paths`;
  await writeReachable(list, Buffer.concat(paths.flatMap((path) => [path, NUL])));
  // On a file, because a child of ours has no input of its own.
  const script = 'exec git -c safe.directory="*" check-ignore -z --stdin < "$1"';
  const call = { cwd: repository, args: ['-c', script, 'sh', list], what: 'git check-ignore' };
  const answer = await outputOf('sh', call, { env, accepted: [0, 1, 128] });
  const ignored = new Set(pathsIn(answer).map((path) => path.toString('latin1')));
  return paths.filter((path) => !ignored.has(path.toString('latin1')));
}

/** What is still other than in the index after everything was added. */
async function leftOut(
  repository: string,
  env: Readonly<Record<string, string>>,
  known: readonly Buffer[],
): Promise<readonly Buffer[]> {
  const args = ['ls-files', '-z', '--others', '--modified', '--exclude-standard'];
  const expected = new Set(known.map((path) => path.toString('latin1')));
  const seen = new Map<string, Buffer>();
  for (const path of pathsIn(await git(repository, args, { env }))) {
    const name = path.toString('latin1');
    if (!expected.has(name)) seen.set(name, path);
  }
  return [...seen.values()];
}

/** Git only warns of a folder that it cannot list: one without permission, or with a path that is too long. */
function closedFolders(complaint: string): readonly string[] {
  const found = [...complaint.matchAll(/could not open directory '(.*?)(?:'|$)(?:: (.*))?$/gm)];
  return found
    .slice(0, GIT_FINDINGS_OF_KIND_MAX)
    .map(
      ([, path = '', why]) =>
        `${shownPath(Buffer.from(path))} cannot be listed and was left out: ${why ?? 'its path is too long'}`,
    );
}

function sentences(paths: readonly Buffer[], says: string): readonly string[] {
  const shown = paths.slice(0, GIT_FINDINGS_OF_KIND_MAX).map((path) => `${shownPath(path)} ${says}`);
  const rest = paths.length - shown.length;
  return rest === 0 ? shown : [...shown, `and ${rest} more: ${says}`];
}
