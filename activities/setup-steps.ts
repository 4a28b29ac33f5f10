/**
 * runSetupScript, setUpGitHooks and setUpSkills: the steps between repository and agent (D18).
 * Owns what each looks for in the repository; a step that finds nothing succeeds at once.
 */
import type { ActivityCommandType, CommandOf, MachineEvent } from '../core/machine/command.ts';
import type { ParleyError } from '../core/parley-error.ts';
import { quoted } from '../core/text/shell-word.ts';
import type { Handler } from './activity.ts';
import { agentTarget } from './agent-target.ts';
import { cachedSetup } from './setup-cache.ts';
import { launchFacts } from './launch-facts.ts';
import { runScript, workspaceFacts } from './in-sandbox.ts';
import { bringsNone, forgetScripts, HOOK_SCRIPT, SETUP_SCRIPT, type OwnScript } from './own-scripts.ts';
import type { World } from './world.ts';

const SETUP_TIMEOUT_MS = 600_000;
const HOOKS_TIMEOUT_MS = 30_000;

type Step = Extract<ActivityCommandType, 'runSetupScript' | 'setUpGitHooks' | 'setUpSkills'>;

const step = (
  world: World,
  does: {
    readonly script: (dir: string) => string;
    readonly timeoutMs: number;
    readonly doing: string;
    /** Where the repository brings none of these, there is nothing to do. */
    readonly needs: readonly OwnScript[];
  },
) => ({
  async carryOut(command: CommandOf<Step>): Promise<void> {
    const { conversationId } = command;
    if (bringsNone(world, conversationId, does.needs)) return;
    // A script may change what was seen.
    forgetScripts(world, conversationId);
    const target = await agentTarget(world, command);
    const { workingDir } = await workspaceFacts(world, conversationId);
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

/** The job's own command comes after the repository's script, which may make what it needs. */
async function runJobSetup(world: World, command: CommandOf<'runSetupScript'>): Promise<void> {
  const { conversationId } = command;
  const { setup } = await launchFacts(world.vault, conversationId);
  if (setup === null) return;
  forgetScripts(world, conversationId);
  const target = await agentTarget(world, command);
  const { workingDir } = await workspaceFacts(world, conversationId);
  await runScript(world, target, {
    script: cachedSetup(setup, target.address.workspaceDir),
    workingDir,
    timeoutMs: setup.timeoutMs,
    code: 'setup_failed',
    doing: 'run "setup" of the job',
  });
}

/** Runs the repository's own set-up script, if it brings one, and then the command of the job. */
export function runSetupScript(world: World): Handler<'runSetupScript'> {
  const { carryOut, ...rest } = step(world, {
    script: () => `if [ -f ${SETUP_SCRIPT} ]; then bash ${SETUP_SCRIPT}; fi`,
    timeoutMs: SETUP_TIMEOUT_MS,
    needs: [SETUP_SCRIPT],
    doing: 'run the set-up script of the repository',
  });
  return {
    ...rest,
    run: async (command) => {
      if (command.isSetUp !== true) {
        await carryOut(command);
        await runJobSetup(world, command);
      }
      return { type: 'setupScriptRan', commandId: command.id };
    },
  };
}

/** Installs the repository's pre-commit script as a Git hook, if it brings one. */
export function setUpGitHooks(world: World): Handler<'setUpGitHooks'> {
  const { carryOut, ...rest } = step(world, {
    script: (dir) =>
      `if [ -f ${HOOK_SCRIPT} ]; then install -m 755 ${HOOK_SCRIPT} ${quoted(`${dir}/.git/hooks/pre-commit`)}; fi`,
    timeoutMs: HOOKS_TIMEOUT_MS,
    needs: [HOOK_SCRIPT],
    doing: 'install the Git hooks of the repository',
  });
  return {
    ...rest,
    run: async (command) => {
      await carryOut(command);
      return { type: 'gitHooksSetUp', commandId: command.id };
    },
  };
}

/**
 * The agent reads skills from the repository itself; the step checks that the repository can be read by it, which
 * nobody but a script has changed since its commit was read.
 */
export function setUpSkills(world: World): Handler<'setUpSkills'> {
  const { carryOut, ...rest } = step(world, {
    script: () => 'git rev-parse --is-inside-work-tree >/dev/null',
    timeoutMs: HOOKS_TIMEOUT_MS,
    needs: [SETUP_SCRIPT, HOOK_SCRIPT],
    doing: 'look for skills in the repository',
  });
  return {
    ...rest,
    run: async (command) => {
      await carryOut(command);
      return { type: 'skillsSetUp', commandId: command.id };
    },
  };
}
