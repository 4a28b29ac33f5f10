/** The steps between repository and agent: what they find in a repository, and how they fail. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { putLaunchFacts, type LaunchSetup } from '../../activities/launch-facts.ts';
import { describeWith } from '../helpers/requires.ts';
import { AGENT_ORDER, activityWorld, answerOf, inSandbox, type ActivityWorld } from './activity-world.ts';

const STEPS = ['runSetupScript', 'setUpGitHooks', 'setUpSkills'] as const;
const DONE = { runSetupScript: 'setupScriptRan', setUpGitHooks: 'gitHooksSetUp', setUpSkills: 'skillsSetUp' };

async function withRepository(files: Readonly<Record<string, string>> = {}): Promise<ActivityWorld> {
  const around = await activityWorld();
  await inSandbox(around);
  mkdirSync(path.join(around.workspaceDir, '.openhands'), { recursive: true });
  execFileSync('git', ['init', '--quiet'], { cwd: around.workspaceDir });
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(around.workspaceDir, name), text);
  return around;
}

describeWith('git', 'a setup step', () => {
  it.each(STEPS)('%s succeeds where the repository brings nothing', async (type) => {
    const around = await withRepository();
    expect(await answerOf(around, { ...AGENT_ORDER, type })).toEqual({
      type: DONE[type],
      commandId: AGENT_ORDER.id,
    });
  });

  it('runs the script of the repository in its working directory', async () => {
    const around = await withRepository({ '.openhands/setup.sh': 'echo ran > "$PWD/trace"' });
    await answerOf(around, { ...AGENT_ORDER, type: 'runSetupScript' });
    expect(readFileSync(path.join(around.workspaceDir, 'trace'), 'utf8')).toBe('ran\n');
  });

  it('installs the hook so that Git runs it', async () => {
    const around = await withRepository({ '.openhands/pre-commit.sh': 'exit 1\n' });
    await answerOf(around, { ...AGENT_ORDER, type: 'setUpGitHooks' });
    expect(statSync(path.join(around.workspaceDir, '.git/hooks/pre-commit')).mode & 0o111).toBe(0o111);
  });

  it('ends the start with setup_failed and the end of what the script printed', async () => {
    const around = await withRepository({ '.openhands/setup.sh': 'seq 1 5000; echo the cause >&2; exit 3' });
    const answer = await answerOf(around, { ...AGENT_ORDER, type: 'runSetupScript' });
    expect(answer).toMatchObject({ type: 'stepFailed', code: 'setup_failed' });
    const { reason } = answer as { readonly reason: string };
    expect(reason).toMatch(/exit code 3: [\s\S]*the cause$/);
    expect(reason.length).toBeLessThan(2_200);
  });

  it('says so when the script does not end', async () => {
    const around = await withRepository();
    around.agent.execute = () => Promise.resolve({ exitCode: -1, stdout: '', stderr: '' });
    const answer = await answerOf(around, { ...AGENT_ORDER, type: 'runSetupScript' });
    expect(answer).toMatchObject({
      code: 'setup_failed',
      reason: expect.stringContaining('no end within 600 s'),
    });
  });

  it('is not_found where no workspace was prepared', async () => {
    const around = await activityWorld();
    around.runtime.up(AGENT_ORDER.sandboxId);
    expect(await answerOf(around, { ...AGENT_ORDER, type: 'setUpSkills' })).toMatchObject({
      code: 'not_found',
    });
  });

  it('refuses a directory that Git cannot read', async () => {
    const around = await activityWorld();
    await inSandbox(around);
    mkdirSync(path.join(around.workspaceDir, '.git'), { recursive: true });
    expect(await answerOf(around, { ...AGENT_ORDER, type: 'setUpSkills' })).toMatchObject({
      code: 'setup_failed',
    });
  });
});

describeWith('git', 'setup of a job', () => {
  const order = { ...AGENT_ORDER, type: 'runSetupScript' } as const;
  /** A repository with a lock file, in which the command makes what Git ignores and counts that it ran. */
  async function withSetup(
    lock: Readonly<Record<string, string>>,
    command = COMMAND,
  ): Promise<ActivityWorld> {
    const around = await withRepository({ '.gitignore': 'made/\nran\n', ...lock });
    await putSetup(around, { command, timeoutMs: 60_000 });
    return around;
  }
  const COMMAND = 'mkdir -p made; echo x > made/x; echo x >> ran';
  const putSetup = ({ world }: ActivityWorld, setup: LaunchSetup): Promise<void> =>
    putLaunchFacts(world.vault, order.conversationId, { extraHeaders: {}, gitAuthor: null, setup });
  const ran = ({ workspaceDir }: ActivityWorld): number =>
    readFileSync(path.join(workspaceDir, 'ran'), 'utf8').length / 2;
  /** Another conversation of the sandbox begins with a fresh clone. */
  const afresh = ({ workspaceDir }: ActivityWorld): void => {
    rmSync(path.join(workspaceDir, 'made'), { recursive: true });
  };

  it('runs after the script of the repository, and is taken again while the lock file is the same', async () => {
    const around = await withSetup({ 'yarn.lock': 'one', '.openhands/setup.sh': 'test ! -e made' });
    expect(await answerOf(around, order)).toMatchObject({ type: 'setupScriptRan' });
    afresh(around);
    expect(await answerOf(around, order)).toMatchObject({ type: 'setupScriptRan' });
    expect(readFileSync(path.join(around.workspaceDir, 'made/x'), 'utf8')).toBe('x\n');
    expect(ran(around)).toBe(1);
    writeFileSync(path.join(around.workspaceDir, 'yarn.lock'), 'two');
    afresh(around);
    await answerOf(around, order);
    expect(ran(around)).toBe(2);
  });

  it.each([
    ['without a lock file', {}, undefined],
    ['when it changed what Git does not ignore', { 'go.sum': 'one' }, `${COMMAND}; date +%N > work.txt`],
  ])('runs again %s', async (_, lock, command) => {
    const around = await withSetup(lock, command);
    await answerOf(around, order);
    afresh(around);
    rmSync(path.join(around.workspaceDir, 'work.txt'), { force: true });
    await answerOf(around, order);
    expect(ran(around)).toBe(2);
  });

  it('ends the start with setup_failed when it fails', async () => {
    const around = await withSetup({ 'go.sum': 'one' }, 'echo the cause >&2; exit 4');
    expect(await answerOf(around, order)).toMatchObject({
      type: 'stepFailed',
      code: 'setup_failed',
      reason: expect.stringMatching(/"setup" of the job: exit code 4: the cause$/),
    });
  });
});
