/** The steps after the preparation use the sandbox only if the repository brings something, or was not checked. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { putLaunchFacts } from '../../activities/launch-facts.ts';
import type { MachineEvent } from '../../core/machine/command.ts';
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
  readonly prepared: MachineEvent | null;
}

/** All steps of a start; `files` are committed in the repository, null: there is none. `setup` is the job's command. */
async function start(files: Readonly<Record<string, string>> | null, setup?: string): Promise<Start> {
  const around = await activityWorld();
  const given = setup === undefined ? null : { command: setup, timeoutMs: 60_000 };
  const facts = { extraHeaders: {}, gitAuthor: null, setup: given };
  await putLaunchFacts(around.world.vault, CONVERSATION, facts);
  await inSandbox(around);
  const repository = files === null ? null : 'acme/tool';
  if (files !== null) commit(path.join(around.folder, 'remotes', 'acme/tool'), files);
  const prepared = await answerOf(around, { ...PREPARE, repository });
  expect(prepared).toMatchObject({ type: 'repositoryPrepared' });
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
  return { around, dir, asked, prepared };
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
    const { asked, prepared } = await start(files);
    expect(asked).toEqual([]);
    expect(prepared).toMatchObject({ isSetUp: true });
  });

  it('runs the set-up script, and looks anew at what it left', async () => {
    const files = { '.openhands/setup.sh': `echo 'exit 1' > .openhands/pre-commit.sh` };
    const { dir, asked, prepared } = await start(files);
    expect(asked).toEqual([...STEPS]);
    expect(prepared).not.toHaveProperty('isSetUp');
    expect(existsSync(path.join(dir, '.git/hooks/pre-commit'))).toBe(true);
  });

  it('runs the command of the job where the repository brings nothing', async () => {
    const { dir, asked, prepared } = await start({}, 'touch made');
    expect(asked).toContain('runSetupScript');
    expect(prepared).not.toHaveProperty('isSetUp');
    expect(existsSync(path.join(dir, 'made'))).toBe(true);
  });

  it('runs nothing in a step that has nothing to do', async () => {
    const { around, asked } = await start({});
    const step = { ...AGENT_ORDER, type: 'runSetupScript', isSetUp: true } as const;
    expect(await answerOf(around, step)).toMatchObject({ type: 'setupScriptRan' });
    expect(asked).toEqual([]);
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
