/**
 * `parley image`: builds the image of a sandbox with agents in it, for Docker and Kubernetes.
 * Owns options and what is printed; recipe and building are in cli/agents/.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Argument } from 'commander';
import { installedAgent, type InstalledAgent } from '../../host/sandboxes/installed-agents.ts';
import type { AgentImage } from '../agents/agent-image.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { writeAnswer } from '../../host/records.ts';
import { printable } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';

interface ImageOptions extends Flags {
  readonly agent: readonly string[];
  readonly tag?: string;
  readonly baseImage?: string;
  readonly sandboxImage?: string;
  readonly buildArg: readonly string[];
  readonly context?: string;
  readonly print?: true;
}

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('image')
    .description('Build the image of a sandbox with agents in it, for Docker and Kubernetes.')
    .addArgument(new Argument('<action>', 'what to do').choices(['build']))
    .requiredOption('--agent <name...>', 'agents that "parley agent add" has installed here')
    .option('--tag <name>', 'name of the image (default: parley-sandbox-AGENT:VERSION)')
    .option('--base-image <image>', 'what the recipe of the sandbox begins with, instead of its own')
    .option('--sandbox-image <image>', 'image of a sandbox to put the agents on, instead of building one')
    .option(
      '--build-arg <word...>',
      'further words for "docker build", such as --build-arg=--network=host',
      [],
    )
    .option('--context <dir>', 'write recipe and agents there, for another builder; build nothing')
    .option('--print', 'print the recipe of the layer with the agents; build nothing')
    .shares('json', 'config')
    .says(
      'The sandbox is built from chart/images/sandbox/Containerfile, which takes a checkout; --sandbox-image names one' +
        '\nthat is there. Push the image, and name it by its digest in runtime.docker.image or runtime.kubernetes.image.',
    )
    .says('Exit codes: 0 built, 2 an agent is not installed, 5 docker did not do it.')
    .examples(
      'parley agent add opencode && parley image build --agent opencode',
      'parley image build --agent opencode --sandbox-image registry.example.com/parley-sandbox:0.1.0',
      'parley image build --agent opencode --print',
    )
    .action(ends((_action: 'build', options: ImageOptions) => build(shell, options)));
}

async function build(shell: Shell, options: ImageOptions): Promise<ExitCode> {
  const { dataDir } = await openDeployment(shell, { path: options.config, startsProxy: false });
  const agents = options.agent.map((name) => requireAgent(dataDir, name));
  const { agentRecipe, buildImage, writeContext } = await import('../agents/agent-image.ts');
  const order: AgentImage = {
    agents,
    tag: options.tag ?? tagOf(agents),
    sandbox: sandboxOf(shell, options),
    buildArgs: options.buildArg,
    say: (text) => void shell.stderr.write(`${printable(text)}\n`),
  };
  if (options.print === true) {
    shell.stdout.write(agentRecipe(order));
    return EXIT.ok;
  }
  if (options.context !== undefined) {
    const context = path.resolve(shell.cwd, options.context);
    writeContext(order, context);
    shell.stdout.write(`${printable(context)}\n`);
    return EXIT.ok;
  }
  const context = mkdtempSync(path.join(tmpdir(), 'parley-image-'));
  try {
    writeContext(order, context);
    const id = buildImage(order, context);
    const records = [{ type: 'image', tag: order.tag, id }];
    writeAnswer(shell.stdout, options, { records, lines: [`${order.tag}  ${id}`] });
    return EXIT.ok;
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

/** @throws CliError */
function requireAgent(dataDir: string, name: string): InstalledAgent {
  const found = installedAgent(dataDir, name);
  if (found !== null) return found;
  throw new CliError(`Cannot put "${name}" into an image: it is not installed here`, {
    remedy: `install it: parley agent add ${name}`,
  });
}

function sandboxOf({ programDir }: Shell, { baseImage, sandboxImage }: ImageOptions): AgentImage['sandbox'] {
  if (sandboxImage === undefined)
    return { kind: 'recipe', root: path.dirname(programDir), baseImage: baseImage ?? null };
  if (baseImage === undefined) return { kind: 'image', image: sandboxImage };
  throw new CliError('Cannot use --base-image together with --sandbox-image: that sandbox is built already');
}

/** Characters that no tag has become hyphens. */
function tagOf(agents: readonly InstalledAgent[]): string {
  const names = agents.map(({ name }) => name).join('-');
  const versions = agents.map(({ version }) => version).join('-');
  return `parley-sandbox-${names}:${versions.replaceAll(/[^A-Za-z0-9_.-]/g, '-')}`;
}
