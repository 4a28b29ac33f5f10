/**
 * runSetupScript, setUpGitHooks and setUpSkills: the steps between repository and agent (D18).
 * Owns what each looks for in the repository; a step that finds nothing succeeds at once.
 */
import type { ActivityCommandType, CommandOf, MachineEvent } from '../core/command.ts';
import type { ParleyError } from '../core/parley-error.ts';
import { BRIEF, type Activity } from './activity.ts';
import { agentTarget } from './agent-target.ts';
import { quoted, runScript, workspaceFacts } from './in-sandbox.ts';
import type { World } from './world.ts';

const SETUP_TIMEOUT_MS = 600_000;
const HOOKS_TIMEOUT_MS = 30_000;

type Step = Extract<ActivityCommandType, 'runSetupScript' | 'setUpGitHooks' | 'setUpSkills'>;

const step = (
  world: World,
  does: { readonly script: (dir: string) => string; readonly timeoutMs: number; readonly doing: string },
) => ({
  retry: BRIEF,
  async carryOut(command: CommandOf<Step>): Promise<void> {
    const target = await agentTarget(world, command);
    const { workingDir } = await workspaceFacts(world, command.conversationId);
    const { timeoutMs, doing } = does;
    await runScript(world, target, {
      script: does.script(workingDir),
      workingDir,
      timeoutMs,
      code: 'setup_failed',
      doing,
    });
  },
  failed: (command: CommandOf<Step>, error: ParleyError): MachineEvent => ({
    type: 'stepFailed',
    commandId: command.id,
    code: error.code,
    reason: error.message,
  }),
});

/** Runs the repository's own set-up script, if it brings one. */
export function runSetupScript(world: World): Activity<'runSetupScript'> {
  const { carryOut, ...rest } = step(world, {
    script: () => 'if [ -f .openhands/setup.sh ]; then bash .openhands/setup.sh; fi',
    timeoutMs: SETUP_TIMEOUT_MS,
    doing: 'run the set-up script of the repository',
  });
  return {
    ...rest,
    type: 'runSetupScript',
    run: async (command) => {
      await carryOut(command);
      return { type: 'setupScriptRan', commandId: command.id };
    },
  };
}

/** Installs the repository's pre-commit script as a Git hook, if it brings one. */
export function setUpGitHooks(world: World): Activity<'setUpGitHooks'> {
  const { carryOut, ...rest } = step(world, {
    script: (dir) =>
      `if [ -f .openhands/pre-commit.sh ]; then install -m 755 .openhands/pre-commit.sh ${quoted(`${dir}/.git/hooks/pre-commit`)}; fi`,
    timeoutMs: HOOKS_TIMEOUT_MS,
    doing: 'install the Git hooks of the repository',
  });
  return {
    ...rest,
    type: 'setUpGitHooks',
    run: async (command) => {
      await carryOut(command);
      return { type: 'gitHooksSetUp', commandId: command.id };
    },
  };
}

/** The agent reads skills from the repository itself; the step checks that the repository can be read by it. */
export function setUpSkills(world: World): Activity<'setUpSkills'> {
  const { carryOut, ...rest } = step(world, {
    script: () => 'git rev-parse --is-inside-work-tree >/dev/null',
    timeoutMs: HOOKS_TIMEOUT_MS,
    doing: 'look for skills in the repository',
  });
  return {
    ...rest,
    type: 'setUpSkills',
    run: async (command) => {
      await carryOut(command);
      return { type: 'skillsSetUp', commandId: command.id };
    },
  };
}
