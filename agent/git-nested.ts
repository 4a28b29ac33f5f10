/**
 * Repositories inside a repository, as a snapshot of the outer one takes them.
 * Owns that the files of one that the agent made are files of the patch, that one which is a copy of something else
 * stays out, and what is said of either, of submodules and of files that Git LFS keeps elsewhere.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { shownPath } from './git-findings.ts';
import { GitError, git, line, pathsIn } from './workspace/git.ts';
import { GIT_NESTED_BYTES_MAX, GIT_NESTED_MAX } from './limits.ts';

interface OuterSnapshot {
  readonly repository: string;
  readonly base: string;
  readonly env: Readonly<Record<string, string>>;
  /** A folder for what is needed on the way. */
  readonly scratch: string;
}

const GITLINK = '160000';

/** `uncommitted`: nested ones that Git would not add. Returns what is to be said. @throws GitError */
export async function takeInNested(
  outer: OuterSnapshot,
  uncommitted: readonly Buffer[],
): Promise<readonly string[]> {
  const { repository, base, env } = outer;
  const links = gitlinks(await git(repository, ['ls-files', '--stage', '-z'], { env }));
  const known = links.length === 0 ? [] : gitlinks(await git(repository, ['ls-tree', '-r', '-z', base]));
  const knownNames = new Map(known.map(({ path, id }) => [path.toString('latin1'), id]));
  const made = links.filter(({ path }) => !knownNames.has(path.toString('latin1'))).map(({ path }) => path);
  const findings: string[] = [];
  const nested = [...made, ...uncommitted];
  for (const path of nested.slice(0, GIT_NESTED_MAX)) findings.push(await takeIn(outer, path));
  for (const path of nested.slice(GIT_NESTED_MAX)) {
    await dropLink(outer, path);
    findings.push(`${shownPath(path)} is a repository of its own and was left out: there are too many`);
  }
  findings.push(...(await submoduleFindings(outer, links, knownNames)), ...(await lfsFindings(outer)));
  return findings;
}

interface Gitlink {
  readonly path: Buffer;
  readonly id: string;
}

/** Lines of `ls-files --stage` or `ls-tree`: mode first, the id in between, the path behind a tab. */
function gitlinks(output: Buffer): readonly Gitlink[] {
  return pathsIn(output).flatMap((entry) => {
    const tab = entry.indexOf(0x09);
    const head = entry.toString('latin1', 0, tab);
    if (!head.startsWith(GITLINK)) return [];
    return [{ path: entry.subarray(tab + 1), id: /[0-9a-f]{40,}/.exec(head)?.[0] ?? '' }];
  });
}

async function takeIn(outer: OuterSnapshot, path: Buffer): Promise<string> {
  const name = path.toString('utf8');
  await dropLink(outer, path);
  const says = `${shownPath(path)} is a repository of its own`;
  // An argument is text: a name that is none cannot be given to Git.
  if (!Buffer.from(name, 'utf8').equals(path)) return `${says} and was left out: its name is no text`;
  const folder = join(outer.repository, name);
  try {
    const remote = line(await git(folder, ['remote'])).split('\n')[0] ?? '';
    if (remote !== '') return `${says}, a copy of another (remote "${remote}"), and was left out`;
    const added = await filesOf(outer, folder);
    if (added === null) return `${says} and was left out: more than ${GIT_NESTED_BYTES_MAX} bytes`;
    const { env } = outer;
    if (added !== '') await git(outer.repository, ['read-tree', `--prefix=${name}/`, added], { env });
    return `${says}: its files are in the patch as they stand, its commits are not`;
  } catch (error) {
    if (error instanceof GitError) return `${says} and was left out: it cannot be read`;
    throw error;
  }
}

/** Its files as a tree in the outer one's scratch store; empty when it has none, null when they are too many. */
async function filesOf({ repository, env, scratch }: OuterSnapshot, folder: string): Promise<string | null> {
  const outerDir = line(await git(repository, ['rev-parse', '--absolute-git-dir']));
  const own = {
    ...env,
    GIT_DIR: outerDir,
    GIT_WORK_TREE: folder,
    GIT_INDEX_FILE: join(scratch, 'nested-index'),
  };
  await git(folder, ['read-tree', '--empty'], { env: own });
  await git(folder, ['add', '--all', '--ignore-errors', '--', '.'], { env: own, accepted: [0, 1] });
  const tree = line(await git(folder, ['write-tree'], { env: own }));
  const listed = pathsIn(await git(folder, ['ls-tree', '-r', '-l', '-z', tree], { env: own }));
  const bytes = listed.reduce((sum, entry) => sum + sizeIn(entry), 0);
  if (bytes > GIT_NESTED_BYTES_MAX) return null;
  return listed.length === 0 ? '' : tree;
}

function sizeIn(entry: Buffer): number {
  const size = /^\S+ \S+ \S+ +(\d+)\t/.exec(entry.toString('latin1', 0, 200))?.[1];
  return Number(size ?? 0);
}

async function dropLink({ repository, env }: OuterSnapshot, path: Buffer): Promise<void> {
  const name = path.toString('utf8');
  if (!Buffer.from(name, 'utf8').equals(path)) return;
  await git(repository, ['update-index', '--force-remove', '--', name], { env });
}

/** A patch holds the commit of a submodule, and nothing of what is in it. */
async function submoduleFindings(
  { repository }: OuterSnapshot,
  links: readonly Gitlink[],
  known: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const findings: string[] = [];
  const absent: string[] = [];
  for (const { path, id } of links.slice(0, GIT_NESTED_MAX)) {
    const before = known.get(path.toString('latin1'));
    if (before === undefined) continue;
    const folder = join(repository, path.toString('utf8'));
    if ((await stat(join(folder, '.git')).catch(() => null)) === null) {
      absent.push(shownPath(path));
      continue;
    }
    const status = await git(folder, ['status', '--porcelain', '-z']).catch(() => Buffer.alloc(0));
    const isChanged = status.length > 0;
    if (before !== id)
      findings.push(`submodule ${shownPath(path)} is at another commit, which is not in the results`);
    if (isChanged) findings.push(`submodule ${shownPath(path)} has changes, which are not in the patch`);
  }
  if (absent.length > 0) findings.unshift(`submodules were not fetched: ${absent.join(', ')}`);
  return findings;
}

async function lfsFindings({ repository, env }: OuterSnapshot): Promise<readonly string[]> {
  const paths = pathsIn(await git(repository, ['ls-files', '-z', '--', ':(top,attr:filter=lfs)'], { env }));
  const [first] = paths;
  if (first === undefined) return [];
  const others = paths.length === 1 ? '' : ` and ${paths.length - 1} more`;
  return [`Git LFS keeps ${shownPath(first)}${others}: what was not fetched is a pointer here`];
}
