/**
 * `parley agent`: installs, lists and removes agents for the sandboxes of the process runtime.
 * Owns the words and where an agent comes from; the work is in cli/agents/.
 */
import path from 'node:path';
import { Argument } from 'commander';
import { AGENT_PACKAGES, AGENT_PRESETS, agentOf } from '../../core/plan/plan-agent.ts';
import { didYouMean } from '../../dsl/check/nearest-name.ts';
import type { AddAgent } from '../agents/add-agent.ts';
import { AGENT_NAME, type InstalledAgent, installedAgents } from '../../host/sandboxes/installed-agents.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { writeAnswer } from '../../host/records.ts';
import { printable } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';

interface AgentOptions extends Flags {
  readonly from?: string;
  readonly package?: string;
  readonly command?: string;
  readonly withScripts?: true;
  /** False with `--no-check`. */
  readonly check: boolean;
}

const ACTIONS = { add, list, remove } as const;

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('agent')
    .description('Install agents that speak the Agent Client Protocol, for sandboxes of the process runtime.')
    .addArgument(new Argument('<action>', 'what to do').choices(Object.keys(ACTIONS)))
    .argument('[agent]', `${presets().join(', ')}, or another name; with @VERSION from npm`)
    .option('--from <dir>', 'copy it from a folder, in place of npm')
    .option('--package <name>', "package of npm (default: the preset's)")
    .option('--command <program>', "its program (default: the preset's)")
    .option('--with-scripts', 'let npm run the install scripts of packages')
    .option('--no-check', 'do not start it once to hear whether it speaks the protocol')
    .shares('json', 'config')
    .says(
      'An agent lies below the data directory, a folder for each version, which nobody changes; sandboxes see it read-only' +
        '\nand find it on their search path. A job chooses it with "agent: opencode". Docker and Kubernetes have it in an' +
        '\nimage: see "parley image".',
    )
    .says('Exit codes: 0 done, 2 there is no such agent or it does not work here, 5 npm cannot be reached.')
    .examples(
      'parley agent add opencode',
      'parley agent add opencode@1.18.33',
      'parley agent add mine --from ./mine --command mine-acp',
      'parley agent list --json',
      'parley agent remove opencode',
    )
    .action(
      ends(async (action: keyof typeof ACTIONS, agent: string | undefined, options: AgentOptions) => {
        const { dataDir } = await openDeployment(shell, { path: options.config, startsProxy: false });
        return await ACTIONS[action](shell, { dataDir, agent: agent ?? '' }, options);
      }),
    );
}

function presets(): readonly string[] {
  return AGENT_PRESETS.filter((name) => Object.hasOwn(AGENT_PACKAGES, name));
}

interface Asked {
  readonly dataDir: string;
  readonly agent: string;
}

async function add(shell: Shell, { dataDir, agent }: Asked, options: AgentOptions): Promise<ExitCode> {
  const { addAgent } = await import('../agents/add-agent.ts');
  const [name = '', version = null] = splitVersion(agent);
  requireName(name);
  const installed = await addAgent({
    ...{ dataDir, name, isTried: options.check },
    command: commandOf(name, options),
    from: sourceOf(shell, { name, version }, options),
    say: (text) => void shell.stderr.write(`${printable(text)}\n`),
  });
  return show(shell, [installed], options);
}

function splitVersion(text: string): readonly [string, string | null] {
  const at = text.indexOf('@');
  return at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}

/** @throws CliError */
function requireName(name: string): void {
  if (AGENT_NAME.test(name)) return;
  throw new CliError(name === '' ? 'Cannot tell which agent is meant' : `Cannot use the name "${name}"`, {
    remedy: `write one of ${presets().join(', ')}, or lower-case letters, digits and hyphens`,
  });
}

function commandOf(name: string, { command }: AgentOptions): AddAgent['command'] {
  const [program, ...args] = agentOf(name, {})?.command ?? [];
  if (command !== undefined) return [command, ...(command === program ? args : [])];
  return [program ?? name, ...args];
}

function sourceOf(
  shell: Shell,
  { name, version }: { readonly name: string; readonly version: string | null },
  options: AgentOptions,
): AddAgent['from'] {
  if (options.from !== undefined) {
    if (options.package !== undefined || version !== null || options.withScripts === true)
      throw new CliError('Cannot use --package, @VERSION or --with-scripts together with --from');
    return { kind: 'folder', folder: path.resolve(shell.cwd, options.from) };
  }
  const known = Object.hasOwn(AGENT_PACKAGES, name) ? AGENT_PACKAGES[name] : undefined;
  const chosen = options.package ?? known;
  if (chosen === undefined)
    throw new CliError(`Cannot install "${name}": it is no preset, so nobody knows its package`, {
      remedy: didYouMean(name, presets(), 'name it with --package, or a folder with --from'),
    });
  if (!PACKAGE.test(chosen) || (version !== null && !VERSION.test(version)))
    throw new CliError(`Cannot install "${chosen}@${version ?? ''}": it is no package of npm with a version`);
  return {
    kind: 'npm',
    package: chosen,
    version: version ?? 'latest',
    withScripts: options.withScripts === true,
  };
}

/** Nothing that npm takes for an option, a path or an address. */
const PACKAGE = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;
const VERSION = /^[0-9A-Za-z][0-9A-Za-z.+-]*$/;

function list(shell: Shell, { dataDir }: Asked, options: AgentOptions): ExitCode {
  const agents = installedAgents(dataDir);
  if (agents.length === 0 && options.json !== true)
    shell.stderr.write('no agents are installed; install one with: parley agent add opencode\n');
  return show(shell, agents, options);
}

function show({ stdout }: Shell, agents: readonly InstalledAgent[], options: AgentOptions): ExitCode {
  const records = agents.map(({ name, command, version, source, integrity, folder }) => ({
    ...{ type: 'agent', name, version, command, source, integrity, folder },
  }));
  const lines = agents.map(({ name, command, version, source, integrity }) =>
    printable(`${name}  ${version}  ${command}  ${source}  ${integrity}`),
  );
  writeAnswer(stdout, options, { records, lines });
  return EXIT.ok;
}

async function remove(shell: Shell, { dataDir, agent }: Asked, { json }: AgentOptions): Promise<ExitCode> {
  requireName(agent);
  const { removeAgent } = await import('../agents/add-agent.ts');
  if (!removeAgent(dataDir, agent))
    throw new CliError(`Cannot remove "${agent}": it is not installed`, {
      remedy: 'list agents with "parley agent list"',
    });
  const records = [{ type: 'agent_removed', name: agent }];
  writeAnswer(shell.stdout, { json }, { records, lines: [`removed ${agent}`] });
  return EXIT.ok;
}
