/**
 * runSetupScript, setUpGitHooks and setUpSkills: the steps between repository and agent (D18).
 * Owns what each searches in the repository; a step that finds nothing succeeds at once.
 */
import type { CommandOf } from '../core/machine/command.ts';
import { quoted } from '../core/text/shell-word.ts';
import { refusedAs, type Handler } from './activity.ts';
import { agentTarget } from './agent-target.ts';
import { cachedSetup } from './setup-cache.ts';
import { launchFacts } from './launch-facts.ts';
import { runScript, workspaceFacts } from './in-sandbox.ts';
import { bringsNone, forgetScripts, HOOK_SCRIPT, SETUP_SCRIPT, type OwnScript } from './own-scripts.ts';
import type { World } from './world.ts';

const SETUP_TIMEOUT_MS = 600_000;
const HOOKS_TIMEOUT_MS = 30_000;

interface Script {
  script(place: { readonly workingDir: string; readonly workspaceDir: string }): string;
  readonly timeoutMs: number;
  readonly doing: string;
}

type Step = Pick<CommandOf<'runSetupScript' | 'setUpGitHooks' | 'setUpSkills'>, 'id' | 'conversationId'> &
  Parameters<typeof agentTarget>[1];

async function inRepository(world: World, command: Step, { script, ...how }: Script): Promise<void> {
  const { conversationId } = command;
  // A script may change which scripts exist.
  forgetScripts(world, conversationId);
  const target = await agentTarget(world, command);
  const { workingDir } = await workspaceFacts(world, conversationId);
  const { workspaceDir } = target.address;
  const text = script({ workingDir, workspaceDir });
  await runScript(world, target, { ...how, script: text, workingDir, code: 'setup_failed' });
}

/** Where the repository brings none of what it `needs`, there is nothing to do. */
async function carryOut(
  world: World,
  command: Step,
  { needs, ...script }: Script & { readonly needs: readonly OwnScript[] },
): Promise<void> {
  if (!bringsNone(world, command.conversationId, needs)) await inRepository(world, command, script);
}

/** The job's own command comes after the repository's script, which may make what it needs. */
async function runJobSetup(world: World, command: Step): Promise<void> {
  const { setup } = await launchFacts(world.vault, command.conversationId);
  if (setup === null) return;
  await inRepository(world, command, {
    script: ({ workspaceDir }) => cachedSetup(setup, workspaceDir),
    timeoutMs: setup.timeoutMs,
    doing: 'run "setup" of the job',
  });
}

/** Runs the repository's own set-up script, if it brings one, and then the command of the job. */
export const runSetupScript = (world: World): Handler<'runSetupScript'> => ({
  async run(command) {
    if (command.isSetUp !== true) {
      await carryOut(world, command, {
        script: () => `if [ -f ${SETUP_SCRIPT} ]; then bash ${SETUP_SCRIPT}; fi`,
        timeoutMs: SETUP_TIMEOUT_MS,
        needs: [SETUP_SCRIPT],
        doing: 'run the set-up script of the repository',
      });
      await runJobSetup(world, command);
    }
    return { type: 'setupScriptRan', commandId: command.id };
  },
  failed: refusedAs('stepFailed'),
});

/** Installs the repository's pre-commit script as a Git hook, if it brings one. */
export const setUpGitHooks = (world: World): Handler<'setUpGitHooks'> => ({
  async run(command) {
    await carryOut(world, command, {
      script: ({ workingDir }) =>
        `if [ -f ${HOOK_SCRIPT} ]; then install -m 755 ${HOOK_SCRIPT} ${quoted(`${workingDir}/.git/hooks/pre-commit`)}; fi`,
      timeoutMs: HOOKS_TIMEOUT_MS,
      needs: [HOOK_SCRIPT],
      doing: 'install the Git hooks of the repository',
    });
    return { type: 'gitHooksSetUp', commandId: command.id };
  },
  failed: refusedAs('stepFailed'),
});

/**
 * The agent reads skills from the repository itself; the step checks that the agent can read the repository, which
 * only a script can have changed since its commit was read.
 */
export const setUpSkills = (world: World): Handler<'setUpSkills'> => ({
  async run(command) {
    await carryOut(world, command, {
      script: () => 'git rev-parse --is-inside-work-tree >/dev/null',
      timeoutMs: HOOKS_TIMEOUT_MS,
      needs: [SETUP_SCRIPT, HOOK_SCRIPT],
      doing: 'look for skills in the repository',
    });
    return { type: 'skillsSetUp', commandId: command.id };
  },
  failed: refusedAs('stepFailed'),
});
