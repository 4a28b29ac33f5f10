/**
 * A real batch over repositories as people have them: one whose hooks and skills bind the agent, one begun at a tag, one
 * without a commit, one with submodules, and none at all.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProgramEnd } from './running-program.ts';
import { openUpgradeBatch, type UpgradeBatch } from './upgrade-batch.ts';
import { readZip } from './zip-file.ts';

const ALL_MS_MAX = 600_000;
const SCRIPT = `scripts:
  - name: brought
    when: { contains: 'Look around' }
    turns:
      - tool: terminal
        arguments: { command: 'git status -sb | head -n 1; cat f lib/lib.txt; echo new > made.txt' }
        usage: { prompt: 100, completion: 10 }
      - tool: finish
        arguments: { message: done }
        usage: { prompt: 100, completion: 10 }
`;
const JOB = `kind: job
version: 1
name: brought
defaults: { model: fast }
conversations:
  - { id: guarded, prompt: Look around, repo: acme/guarded }
  - { id: tag, prompt: Look around, repo: { name: acme/tagged, ref: v1 } }
  - { id: empty, prompt: Look around, repo: acme/empty }
  - { id: modular, prompt: Look around, repo: acme/modular }
  - { id: submodules, prompt: Look around, repo: { name: acme/modular, submodules: true } }
  - { id: none, prompt: Look around }
placement: { strategy: add_to_any }
admission: { concurrency: 3 }
collect: [trajectory, diff]
deliver: { branch: 'parley/{key}' }
`;
const WHO = { NAME: 'Ann', EMAIL: 'ann@example.com' };
const ENV = {
  ...{ PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
  ...Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((role) => [
      [`GIT_${role}_NAME`, WHO.NAME],
      [`GIT_${role}_EMAIL`, WHO.EMAIL],
    ]),
  ),
};

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], {
    ...{ cwd, env: ENV, encoding: 'utf8' },
  }).trim();
}

/** A repository of one commit, and more of whatever `more` does, as a bare one that is cloned from. */
function publish(
  repositories: string,
  name: string,
  files: Readonly<Record<string, string>>,
  more: (work: string) => void = () => undefined,
): void {
  const work = path.join(repositories, 'work', name);
  mkdirSync(work, { recursive: true });
  git(work, 'init', '-q', '-b', 'main');
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(work, file)), { recursive: true });
    writeFileSync(path.join(work, file), text);
  }
  git(work, 'add', '.');
  git(work, 'commit', '-q', '--allow-empty', '-m', 'one');
  more(work);
  git(work, 'clone', '-q', '--bare', work, path.join(repositories, `acme/${name}.git`));
}

function publishAll(repositories: string): void {
  const hook = { type: 'command', command: 'echo no terminal here >&2; exit 2' };
  publish(repositories, 'guarded', {
    'AGENTS.md': 'Be kind.',
    '.agents/skills/broken.md': '---\ntriggers: [\n---\nNever told.',
    '.openhands/hooks.json': JSON.stringify({ PreToolUse: [{ matcher: 'terminal', hooks: [hook] }] }),
  });
  publish(repositories, 'tagged', { f: 'one\n' }, (work) => {
    git(work, 'tag', 'v1');
    writeFileSync(path.join(work, 'f'), 'two\n');
    git(work, 'commit', '-q', '-a', '-m', 'two');
  });
  git(repositories, 'init', '-q', '--bare', 'acme/empty.git');
  publish(repositories, 'lib', { 'lib.txt': 'of the submodule\n' });
  publish(repositories, 'modular', { f: 'm\n' }, (work) => {
    git(work, 'submodule', '--quiet', 'add', path.join(repositories, 'acme/lib.git'), 'lib');
    git(work, 'config', '-f', '.gitmodules', 'submodule.lib.url', '../lib');
    git(work, 'commit', '-q', '-a', '-m', 'two');
  });
}

describe('a batch over repositories as they are', () => {
  let batch: UpgradeBatch;
  let repositories: string;
  let done: ProgramEnd;
  const result = (key: string, name: string): Buffer =>
    readFileSync(path.join(batch.copy.resultsDir, 'b', key, name));
  const events = async (key: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const entries = await readZip(result(key, 'trajectory.zip'));
    return entries
      .filter(({ name }) => /event/.test(name) && name.endsWith('.json'))
      .map(({ content }) => JSON.parse(content.toString('utf8')) as Record<string, unknown>);
  };
  const printed = async (key: string): Promise<string> =>
    JSON.stringify((await events(key)).filter(({ kind }) => kind === 'ObservationEvent'));

  beforeAll(async () => {
    batch = await openUpgradeBatch({ repositories: 1, edits: [['gateway.yaml', 'scripts:\n', SCRIPT]] });
    repositories = path.join(batch.copy.dataDir, 'repos');
    publishAll(repositories);
    writeFileSync(path.join(batch.copy.example, 'brought.yaml'), JOB);
    done = await batch.run(['run', 'brought.yaml', '--plain', '--run-id', 'b']);
  }, ALL_MS_MAX);
  afterAll(() => batch.close());

  it('ends well for each of them', () => {
    expect(done.code, done.stderr).toBe(0);
    expect(done.stdout).toContain('done 6/6');
  });

  it('has the hooks and skills of a repository bind its agent, and tells what is no skill', async () => {
    const all = await events('guarded');
    const said = JSON.stringify(all);
    expect(all.find(({ kind }) => kind === 'UserRejectObservation')).toMatchObject({
      ...{ rejection_reason: 'no terminal here', rejection_source: 'hook' },
    });
    expect(said).toContain('Be kind.');
    expect(said).not.toContain('Never told.');
    expect(all.find(({ kind }) => kind === 'ConversationErrorEvent')).toMatchObject({
      code: 'SurfaceUnreadable',
    });
    expect(result('guarded', 'changes.patch')).toHaveLength(0);
  });

  it('begins at a tag, in a repository without a commit, and in none', async () => {
    expect(await printed('tag')).toMatch(/HEAD \(no branch\).*one/);
    expect(await printed('empty')).toContain('No commits yet');
    expect(result('none', 'changes.patch').toString()).toContain('+++ b/made.txt');
    const bare = path.join(repositories, 'acme/empty.git');
    expect(git(bare, 'log', '--format=%an|%P', 'parley/empty')).toBe('Coding Agent|');
    expect(git(bare, 'show', 'parley/empty:made.txt')).toBe('new');
  });

  it('fetches submodules where that is asked for, and says where it was not', async () => {
    expect(await printed('submodules')).toContain('of the submodule');
    expect(await printed('modular')).not.toContain('of the submodule');
    expect(result('modular', 'findings.json').toString()).toContain('submodules were not fetched');
    expect(done.stdout).toContain('modular: changes.patch: submodules were not fetched: "lib"');
  });
});
