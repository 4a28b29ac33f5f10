/** prepareRepository with real Git and a real shell: what is in the workspace afterwards, and what is not. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { putLaunchFacts } from '../../activities/launch-facts.ts';
import type { CommandOf } from '../../core/machine/command.ts';
import { describeWith } from '../helpers/requires.ts';
import {
  AGENT_ORDER,
  activityWorld,
  answerOf,
  CONVERSATION,
  inSandbox,
  type ActivityWorld,
} from './activity-world.ts';

type Prepare = CommandOf<'prepareRepository'>;

const order = (change: Partial<Prepare> = {}): Prepare => ({
  ...AGENT_ORDER,
  type: 'prepareRepository',
  repository: 'acme/tool',
  codeHost: null,
  branch: null,
  ...change,
});

const PREPARED = { type: 'repositoryPrepared', commandId: AGENT_ORDER.id, isSetUp: true };

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    cwd,
    encoding: 'utf8',
  }).trim();
}

/** A repository with a commit on `main` and one on `odd 'branch`. */
function remote({ folder }: ActivityWorld, name = 'acme/tool'): string {
  const dir = path.join(folder, 'remotes', name);
  mkdirSync(dir, { recursive: true });
  git(dir, 'init', '--quiet', '--initial-branch', 'main');
  writeFileSync(path.join(dir, 'README'), 'one\n');
  git(dir, 'add', '.');
  git(dir, 'commit', '--quiet', '-m', 'one');
  return dir;
}

function filesHolding(dir: string, text: string): readonly string[] {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const names = entries.map((entry) => path.join(entry.parentPath, entry.name));
  return names.filter((name) => readFileSync(name).includes(text)).map((name) => path.relative(dir, name));
}

/** As a later command there would find it. */
function authorIn(cwd: string): { readonly name: string; readonly email: string } {
  const configured = (field: string): string =>
    execFileSync('git', ['config', '--local', field], { cwd, encoding: 'utf8' }).replace(/\n$/, '');
  return { name: configured('user.name'), email: configured('user.email') };
}

async function prepared(): Promise<ActivityWorld> {
  const around = await activityWorld();
  await inSandbox(around);
  return around;
}

const cloneOf = ({ workspaceDir }: ActivityWorld, name = 'tool'): string =>
  path.join(workspaceDir, CONVERSATION, name);

describeWith('git', 'prepareRepository', () => {
  it('clones aside, moves it into place, and remembers where and from which commit', async () => {
    const around = await prepared();
    const from = remote(around);
    expect(await answerOf(around, order())).toEqual(PREPARED);
    const dir = cloneOf(around);
    expect(readFileSync(path.join(dir, 'README'), 'utf8')).toBe('one\n');
    expect(await around.world.workspaces.facts(CONVERSATION)).toEqual({
      workingDir: dir,
      baseCommit: git(from, 'rev-parse', 'HEAD'),
    });
  });

  it('names the author of commits whatever the name holds, and leaves no credential behind', async () => {
    const around = await prepared();
    remote(around);
    await answerOf(around, order());
    const { name, email } = around.world.deployment.gitAuthor;
    expect(authorIn(cloneOf(around))).toEqual({ name, email });
    expect(readdirSync(path.join(around.workspaceDir, CONVERSATION))).toEqual(['tool']);
    const key = around.world.keys.proxyKey(CONVERSATION, 1);
    expect(filesHolding(around.workspaceDir, key)).toEqual([]);
    expect(filesHolding(around.workspaceDir, email)).toEqual([path.join(CONVERSATION, 'tool/.git/config')]);
  });

  it('names the author in a fresh repository whatever the name holds', async () => {
    const around = await prepared();
    const gitAuthor = { name: `Ada "L" \\n\\ o'x $(id) %s # ; =\ttab `, email: 'a[b]@example.invalid' };
    Object.assign(around.world.deployment, { gitAuthor });
    expect(await answerOf(around, order({ repository: null }))).toEqual(PREPARED);
    const dir = path.join(around.workspaceDir, CONVERSATION);
    expect(authorIn(dir)).toEqual(gitAuthor);
    expect(git(dir, 'log', '-1', '--format=%ae')).toBe(gitAuthor.email);
  });

  it('takes the branch that is asked for', async () => {
    const around = await prepared();
    const from = remote(around);
    git(from, 'checkout', '--quiet', '-b', "odd'branch;id");
    git(from, 'commit', '--quiet', '--allow-empty', '-m', 'two');
    git(from, 'checkout', '--quiet', 'main');
    expect(await answerOf(around, order({ branch: "odd'branch;id" }))).toEqual(PREPARED);
    expect(git(cloneOf(around), 'log', '-1', '--format=%s')).toBe('two');
  });

  it.each([
    ['a tag', 'v1', null, 'two'],
    ['a tag with the name of a branch', 'both', null, 'two'],
    ['the id of a commit', 'ID', null, 'two'],
    ['the id of a commit that no branch holds', 'LOST', null, 'lost'],
    ['the id of a commit in place of a branch, as the API names it', null, 'ID', 'two'],
  ])('starts at %s', async (_, ref, branch, subject) => {
    const around = await prepared();
    const from = remote(around);
    git(from, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
    git(from, 'branch', 'both');
    git(from, 'commit', '--quiet', '--allow-empty', '-m', 'two');
    for (const tag of ['v1', 'both']) git(from, 'tag', '-a', '-m', 'a tag', tag);
    const id = git(from, 'rev-parse', 'HEAD');
    git(from, 'commit', '--quiet', '--allow-empty', '-m', 'lost');
    const lost = git(from, 'rev-parse', 'HEAD');
    git(from, 'reset', '--quiet', '--hard', 'HEAD~1');
    git(from, 'commit', '--quiet', '--allow-empty', '-m', 'three');
    const named = (name: string | null): string | null =>
      name === 'ID' ? id : name === 'LOST' ? lost : name;
    const repository = { ref: named(ref), submodules: false };
    await putLaunchFacts(around.world.vault, CONVERSATION, { extraHeaders: {}, gitAuthor: null, repository });
    expect(await answerOf(around, order({ branch: named(branch) }))).toEqual(PREPARED);
    expect(git(cloneOf(around), 'log', '-1', '--format=%s')).toBe(subject);
    const at = git(cloneOf(around), 'rev-parse', 'HEAD');
    expect((await around.world.workspaces.facts(CONVERSATION))?.baseCommit).toBe(at);
    expect(git(cloneOf(around), 'status', '--porcelain', '--branch')).toContain('no branch');
  });

  it.each(['nowhere', 'f'.repeat(40), '--help', 'main~5'])('has no start at "%s"', async (ref) => {
    const around = await prepared();
    remote(around);
    const repository = { ref, submodules: false };
    await putLaunchFacts(around.world.vault, CONVERSATION, { extraHeaders: {}, gitAuthor: null, repository });
    expect(await answerOf(around, order())).toMatchObject({
      code: 'repository_failed',
      reason: expect.stringContaining(`there is no tag and no commit "${ref}"`) as string,
    });
    expect(existsSync(cloneOf(around))).toBe(false);
  });

  it('says what is missing where Git LFS is asked for and its program is not there', async () => {
    const around = await prepared();
    remote(around);
    const repository = { ref: null, submodules: false, lfs: true };
    await putLaunchFacts(around.world.vault, CONVERSATION, { extraHeaders: {}, gitAuthor: null, repository });
    const answer = await answerOf(around, order());
    // Where it is, there is nothing to fetch.
    if (answer?.type === 'stepFailed') expect(answer.reason).toContain('repo.lfs needs the program git-lfs');
    else expect(git(cloneOf(around), 'config', '--local', 'filter.lfs.smudge')).toContain('git-lfs');
  });

  it('begins with nothing in a repository without a commit', async () => {
    const around = await prepared();
    const dir = path.join(around.folder, 'remotes', 'acme/empty');
    mkdirSync(dir, { recursive: true });
    git(dir, 'init', '--quiet', '--bare');
    expect(await answerOf(around, order({ repository: 'acme/empty' }))).toEqual(PREPARED);
    const clone = cloneOf(around, 'empty');
    const tree = git(clone, 'hash-object', '-t', 'tree', '/dev/null');
    expect((await around.world.workspaces.facts(CONVERSATION))?.baseCommit).toBe(tree);
    writeFileSync(path.join(clone, 'first'), '1\n');
    git(clone, 'add', '.');
    git(clone, 'commit', '--quiet', '-m', 'first');
    expect(git(clone, 'diff', '--name-only', tree, 'HEAD')).toBe('first');
  });

  it.each([
    ['a branch that does not exist', order({ branch: 'nowhere' }), /Remote branch nowhere not found/],
    ['a branch that looks like an option', order({ branch: '--upload-pack=touch pwned' }), /not found/],
    ['a repository that does not exist', order({ repository: 'acme/none' }), /does not exist|not found/],
  ])('ends the start with repository_failed for %s', async (_, command, reason) => {
    const around = await prepared();
    remote(around);
    const answer = await answerOf(around, command);
    expect(answer).toEqual({
      type: 'stepFailed',
      commandId: command.id,
      code: 'repository_failed',
      reason: expect.stringMatching(reason),
    });
    expect(
      readdirSync(path.join(around.workspaceDir, CONVERSATION)).filter((name) => name.endsWith('.gitconfig')),
    ).toEqual([]);
    expect(existsSync(path.join(around.workspaceDir, 'pwned'))).toBe(false);
  });

  it('may be repeated: nothing of the agent is touched', async () => {
    const around = await prepared();
    remote(around);
    await answerOf(around, order());
    const first = await around.world.workspaces.facts(CONVERSATION);
    writeFileSync(path.join(cloneOf(around), 'work'), 'mine');
    expect(await answerOf(around, order())).toEqual(PREPARED);
    expect(readFileSync(path.join(cloneOf(around), 'work'), 'utf8')).toBe('mine');
    expect(await around.world.workspaces.facts(CONVERSATION)).toEqual(first);
  });

  it('throws away half a clone', async () => {
    const around = await prepared();
    remote(around);
    const half = `${cloneOf(around)}.clone`;
    mkdirSync(half, { recursive: true });
    writeFileSync(path.join(half, 'half'), '');
    expect(await answerOf(around, order())).toEqual(PREPARED);
    expect([existsSync(half), existsSync(path.join(cloneOf(around), 'half'))]).toEqual([false, false]);
  });

  it('takes names as data, not as script', async () => {
    const around = await prepared();
    const odd = `it's $(touch pwned) "quoted"`;
    remote(around, `acme/${odd}`);
    expect(await answerOf(around, order({ repository: `acme/${odd}` }))).toEqual(PREPARED);
    expect(existsSync(path.join(cloneOf(around, odd), 'README'))).toBe(true);
    expect(existsSync(path.join(around.workspaceDir, 'pwned'))).toBe(false);
  });

  it('makes a repository with one empty commit where the job names none', async () => {
    const around = await prepared();
    const noRepository = order({ repository: null });
    expect(await answerOf(around, noRepository)).toEqual(PREPARED);
    const dir = path.join(around.workspaceDir, CONVERSATION);
    const facts = await around.world.workspaces.facts(CONVERSATION);
    expect(facts).toEqual({ workingDir: dir, baseCommit: git(dir, 'rev-parse', 'HEAD') });
    expect(await answerOf(around, noRepository)).toEqual(PREPARED);
    expect(await around.world.workspaces.facts(CONVERSATION)).toEqual(facts);
  });

  it('asks Git for the commit where the file of the branch does not tell it', async () => {
    const around = await prepared();
    await answerOf(around, order({ repository: null }));
    const dir = path.join(around.workspaceDir, CONVERSATION);
    const baseCommit = git(dir, 'rev-parse', 'HEAD');
    const again = async (): Promise<unknown> => {
      expect(await answerOf(around, order({ repository: null }))).toEqual(PREPARED);
      return (await around.world.workspaces.facts(CONVERSATION))?.baseCommit;
    };
    git(dir, 'pack-refs', '--all');
    expect(await again()).toBe(baseCommit);
    git(dir, 'checkout', '--quiet', '--detach');
    expect(await again()).toBe(baseCommit);
    writeFileSync(path.join(dir, '.git', 'text'), 'no commit\n');
    writeFileSync(path.join(dir, '.git', 'HEAD'), 'ref: text\n');
    expect(await answerOf(around, order({ repository: null }))).toMatchObject({ type: 'stepFailed' });
  });

  it('gives the agent the key of its own conversation, never another credential', async () => {
    const around = await prepared();
    remote(around);
    const written: string[] = [];
    const { writeFile } = around.agent;
    around.agent.writeFile = (target, file, content) => {
      written.push(Buffer.from(content).toString());
      return writeFile(target, file, content);
    };
    await around.world.vault.put(`repository/${CONVERSATION}`, 'token', 'ghp_the_real_one');
    await answerOf(around, order());
    expect(written).toEqual([
      `[http]\n\textraHeader = Authorization: Bearer ${around.world.keys.proxyKey(CONVERSATION, 1)}\n`,
    ]);
  });
});
