/** The steps between repository and agent: what they find in a repository, and how they fail. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
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
