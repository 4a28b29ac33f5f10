/**
 * Launching one incarnation.
 * Owns the order record → process, and what the launched process inherits; must not wait for readiness.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { ParleyError } from '../../core/parley-error.ts';
import type { StartSandboxRequest } from '../../ports/sandbox-runtime.ts';
import { sandboxArguments } from './bwrap-arguments.ts';
import type { Isolation } from './isolation.ts';
import { chooseFreePorts } from './free-ports.ts';
import { nodeInside, prepareEtc } from './host-files.ts';
import { NAMESPACE_PORTS, initCommand, insideEnvironment, namespaceView, plainView } from './inside-view.ts';
import type { InsideView } from './inside-view.ts';
import { generationMark } from './last-words.ts';
import { LAUNCH_SCRIPT } from './launch-script.ts';
import type { ProcessRuntimeOptions } from './options.ts';
import { ensurePrivateDir } from './private-dir.ts';
import { removeContents, removeTree } from './remove-tree.ts';
import type { SandboxPaths } from './sandbox-paths.ts';
import { writeRecord } from './sandbox-record.ts';
import type { SandboxRecord } from './sandbox-record.ts';

export interface LaunchOrder {
  readonly options: ProcessRuntimeOptions;
  readonly isolation: Isolation;
  readonly paths: SandboxPaths;
  readonly request: StartSandboxRequest;
  /** The record of the incarnation before, which is known to be down; null for a new sandbox. */
  readonly previous: SandboxRecord | null;
}

/**
 * Records the incarnation, then starts its first process, detached from us: our end is not its end.
 * @throws ParleyError runtime_failed: the process could not be started, or a directory is not ours
 */
export async function launch(order: LaunchOrder): Promise<SandboxRecord> {
  const { paths } = order;
  await prepareDirectories(order);
  const record = await newRecord(order);
  await rm(paths.process, { force: true });
  await rm(paths.status, { force: true });
  await writeRecord(paths, record);
  const { command, view } = await commandOf(order, record);
  await spawnDetached(order, { command, environment: insideEnvironment(view, record, order.request) });
  return record;
}

/** The agent may have left anything in its socket directory and home; workspace and state are kept (D15). */
async function prepareDirectories({ options, paths, isolation }: LaunchOrder): Promise<void> {
  await mkdir(paths.dir, { recursive: true, mode: 0o700 });
  await mkdir(paths.workspace, { recursive: true, mode: 0o755 });
  await mkdir(paths.agent, { recursive: true, mode: 0o700 });
  await ensurePrivateDir(options.socketDir);
  await ensurePrivateDir(paths.socketDir);
  await removeContents(paths.socketDir);
  await removeTree(paths.home);
  if (isolation.kind === 'none') await mkdir(paths.home, { mode: 0o700 });
}

async function newRecord({ options, isolation, previous, request }: LaunchOrder): Promise<SandboxRecord> {
  const plain = isolation.kind === 'none';
  return {
    version: 1,
    sandboxId: request.sandboxId,
    generation: request.generation,
    desired: 'up',
    isolation: isolation.kind,
    ports: plain ? await chooseFreePorts(previous?.ports ?? null) : NAMESPACE_PORTS,
    launchedAt: options.clock.now(),
  };
}

async function commandOf(
  { options, isolation, paths }: LaunchOrder,
  record: SandboxRecord,
): Promise<{ readonly command: readonly string[]; readonly view: InsideView }> {
  if (isolation.kind === 'none') {
    const view = plainView(options, paths);
    return { command: initCommand(view, record.ports), view };
  }
  const node = await nodeInside();
  const view = namespaceView(options, node.path);
  await prepareEtc(paths.etc);
  const { programs, hostSockets } = options;
  const parts = { nodeBinds: node.binds, programs, hostSockets };
  const namespace = sandboxArguments(parts, paths);
  return { command: [isolation.bwrap, ...namespace, ...initCommand(view, record.ports)], view };
}

interface Launched {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

async function spawnDetached({ paths, request, isolation }: LaunchOrder, launched: Launched): Promise<void> {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const log = await open(paths.log, flags, 0o600);
  try {
    await log.write(generationMark(request.generation));
    const child = spawn(
      '/bin/sh',
      ['-c', LAUNCH_SCRIPT, 'parley-sandbox', paths.process, paths.status, ...launched.command],
      {
        cwd: isolation.kind === 'none' ? paths.workspace : '/',
        env: launched.environment,
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
      },
    );
    child.unref();
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
  } catch (error) {
    const message = `Cannot start sandbox "${request.sandboxId}": its first process could not be started`;
    throw new ParleyError('runtime_failed', message, { cause: error });
  } finally {
    await log.close();
  }
}
