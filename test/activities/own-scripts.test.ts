/** The steps behind the preparation ask the sandbox only where the repository brings something, or where nobody looked. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import {
  AGENT_ORDER,
  activityWorld,
  answerOf,
  CONVERSATION,
  inSandbox,
  type ActivityWorld,
} from './activity-world.ts';

const STEPS = ['runSetupScript', 'setUpGitHooks', 'setUpSkills'] as const;
const PREPARE = { ...AGENT_ORDER, type: 'prepareRepository', codeHost: null, branch: null } as const;

interface Start {
  readonly around: ActivityWorld;
  readonly dir: string;
  /** Which steps ran something in the sandbox, after the preparation. */
  readonly asked: readonly string[];
}

/** All steps of a start; `files` are committed in the repository, null: there is none. */
async function start(files: Readonly<Record<string, string>> | null): Promise<Start> {
  const around = await activityWorld();
  await inSandbox(around);
  const repository = files === null ? null : 'acme/tool';
  if (files !== null) commit(path.join(around.folder, 'remotes', 'acme/tool'), files);
  expect(await answerOf(around, { ...PREPARE, repository })).toMatchObject({ type: 'repositoryPrepared' });
  const asked: string[] = [];
  const execute = around.agent.execute.bind(around.agent);
  for (const type of STEPS) {
    around.agent.execute = (...given) => {
      asked.push(type);
      return execute(...given);
    };
    expect(await answerOf(around, { ...AGENT_ORDER, type })).not.toMatchObject({ type: 'stepFailed' });
  }
  const dir = path.join(around.workspaceDir, CONVERSATION, files === null ? '' : 'tool');
  return { around, dir, asked };
}

function commit(dir: string, files: Readonly<Record<string, string>>): void {
  const git = (...args: readonly string[]): Buffer =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: dir });
  mkdirSync(path.join(dir, '.openhands'), { recursive: true });
  git('init', '--quiet', '--initial-branch', 'main');
  for (const [name, text] of Object.entries({ ...files, README: 'one\n' }))
    writeFileSync(path.join(dir, name), text);
  git('add', '.');
  git('commit', '--quiet', '-m', 'one');
}

describeWith('git', 'a start', () => {
  it.each([
    ['without a repository', null],
    ['of a repository that brings nothing', {}],
  ])('%s runs nothing after the preparation', async (_name, files) => {
    expect((await start(files)).asked).toEqual([]);
  });

  it('runs the set-up script, and looks anew at what it left', async () => {
    const files = { '.openhands/setup.sh': `echo 'exit 1' > .openhands/pre-commit.sh` };
    const { dir, asked } = await start(files);
    expect(asked).toEqual([...STEPS]);
    expect(existsSync(path.join(dir, '.git/hooks/pre-commit'))).toBe(true);
  });

  it('installs the hook alone where there is no set-up script', async () => {
    const { dir, asked } = await start({ '.openhands/pre-commit.sh': 'exit 1\n' });
    expect(asked).toEqual(['setUpGitHooks', 'setUpSkills']);
    expect(existsSync(path.join(dir, '.git/hooks/pre-commit'))).toBe(true);
  });

  it('looks again when the preparation is repeated', async () => {
    const { around, dir } = await start({});
    mkdirSync(path.join(dir, '.openhands'), { recursive: true });
    writeFileSync(path.join(dir, '.openhands/setup.sh'), 'touch ran');
    await answerOf(around, { ...PREPARE, repository: 'acme/tool' });
    await answerOf(around, { ...AGENT_ORDER, type: 'runSetupScript' });
    expect(existsSync(path.join(dir, 'ran'))).toBe(true);
  });
});
