/**
 * An image of a sandbox with agents in it: a layer over the shipped recipe of a sandbox, or over an image that is there.
 * Owns recipe, context and the calls of the docker command; the agents are those that are installed here.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CliError } from '../../host/cli-error.ts';
import { EXIT } from '../../host/exit-code.ts';
import type { InstalledAgent } from '../../host/sandboxes/installed-agents.ts';

/** Beside `dist/`, in a checkout and in the package. */
const SANDBOX_RECIPE = 'chart/images/sandbox/Containerfile';
/** What the recipe takes from a checkout and a package does not have. */
const CHECKOUT_ONLY = ['package-lock.json', 'scripts/image-files.js'];
/** As in the chart. */
const SANDBOX_USER = '10001:10001';

export interface AgentImage {
  readonly agents: readonly InstalledAgent[];
  readonly tag: string;
  readonly sandbox:
    | { readonly kind: 'image'; readonly image: string }
    /** `baseImage` null: as the recipe says. */
    | { readonly kind: 'recipe'; readonly root: string; readonly baseImage: string | null };
  /** Further words for `docker build`, such as `--network=host`. */
  readonly buildArgs: readonly string[];
  say(text: string): void;
}

/** The tag of the sandbox that the layer is put on. */
export function sandboxTag({ sandbox, tag }: Pick<AgentImage, 'sandbox' | 'tag'>): string {
  return sandbox.kind === 'image' ? sandbox.image : `${tag}-sandbox`;
}

/** The layer, with what is in it. */
export function agentRecipe(order: Pick<AgentImage, 'agents' | 'sandbox' | 'tag'>): string {
  return [
    '# Sandbox with agents, written by "parley image build". Its context holds agents/, a tree that lies over the image:',
    ...order.agents.map(
      ({ name, version, source, integrity }) => `#   ${name} ${version} (${source}, ${integrity})`,
    ),
    `ARG SANDBOX_IMAGE=${sandboxTag(order)}`,
    'FROM ${SANDBOX_IMAGE}',
    'USER 0:0',
    'COPY agents/ /',
    ...order.agents.map(({ name, version }) => `LABEL parley.agent.${name}="${version}"`),
    `USER ${SANDBOX_USER}`,
    '',
  ].join('\n');
}

/** Written anew: the recipe, and the agents where an image has them on its search path. */
export function writeContext(order: Pick<AgentImage, 'agents' | 'sandbox' | 'tag'>, context: string): void {
  const tree = path.join(context, 'agents');
  rmSync(tree, { recursive: true, force: true });
  const programs = path.join(tree, 'usr/local/bin');
  mkdirSync(programs, { recursive: true });
  for (const { name, command, folder } of order.agents) {
    const target = path.join(tree, 'opt/agents', name);
    cpSync(folder, target, { recursive: true, verbatimSymlinks: true });
    // Writable, because the context is removed again; in an image only root writes it anyway.
    chmodSync(target, 0o755);
    symlinkSync(`/opt/agents/${name}/bin/${command}`, path.join(programs, command));
  }
  writeFileSync(path.join(context, 'Containerfile'), agentRecipe(order));
}

/** The id of the image. @throws CliError when docker does not do it */
export function buildImage(order: AgentImage, context: string): string {
  const { sandbox, tag, buildArgs, say } = order;
  if (sandbox.kind === 'recipe') {
    requireCheckout(sandbox.root);
    say(`building the sandbox ${sandboxTag(order)} from ${SANDBOX_RECIPE}`);
    const base = sandbox.baseImage === null ? [] : ['--build-arg', `BASE_IMAGE=${sandbox.baseImage}`];
    const file = ['--file', path.join(sandbox.root, SANDBOX_RECIPE), '--tag', sandboxTag(order)];
    docker(['build', ...buildArgs, ...base, ...file, sandbox.root]);
  }
  say(`building ${tag} with ${order.agents.map(({ name, version }) => `${name} ${version}`).join(', ')}`);
  docker(['build', ...buildArgs, '--file', path.join(context, 'Containerfile'), '--tag', tag, context]);
  return docker(['image', 'inspect', '--format', '{{.Id}}', tag]).trim();
}

/** @throws CliError */
function requireCheckout(root: string): void {
  if ([SANDBOX_RECIPE, ...CHECKOUT_ONLY].every((file) => existsSync(path.join(root, file)))) return;
  throw new CliError('Cannot build the sandbox: its recipe takes a checkout of Parley', {
    remedy: 'name an image of a sandbox that is there with --sandbox-image, or build in a checkout',
  });
}

/** A base image over a slow line, and an installation of packages. */
const DOCKER_MS_MAX = 60 * 60_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const SAID_CHARS = 2_000;

function docker(args: readonly string[]): string {
  const { status, error, stdout, stderr } = spawnSync('docker', args, {
    encoding: 'utf8',
    timeout: DOCKER_MS_MAX,
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  if (error === undefined && status === 0) return stdout;
  const why = error?.message ?? (stderr.trim() || stdout.trim()).slice(-SAID_CHARS);
  throw new CliError(`Cannot build the image: docker ${args[0] ?? ''} failed: ${why}`, {
    remedy: 'look whether "docker info" works here; "--print" shows the recipe for another builder',
    exitCode: EXIT.unreachable,
  });
}
