/**
 * Launching one incarnation.
 * Owns the order record → process, and what the launched process inherits; must not wait for readiness.
 */
import { execFile, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { chown, lstat, mkdir, open, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { ParleyError } from '../../core/parley-error.ts';
import { holdFreePort, portOf, release } from '../../loopback/free-port.ts';
import type { StartSandboxRequest } from '../../ports/sandbox-runtime.ts';
import { sandboxArguments } from './bwrap-arguments.ts';
import type { Isolation } from './isolation.ts';
import { prepareGuard } from '../on-host/guard/guard-file.ts';
import { nodeInside, prepareEtc } from './host-files.ts';
import { entrancesOf, groupOf, makeGroup, type SandboxGroup } from './cgroups/sandbox-group.ts';
import { launchLimits, processCountPrefix, type ResourceLimits } from './resource-limits.ts';
import { sandboxFilter } from '../on-host/seccomp/sandbox-filter.ts';
import {
  BOUND_PORTS,
  INSIDE,
  type InsideView,
  type RoutePorts,
  SYSTEM_PATH,
  boundView,
  initCommand,
  insideEnvironment,
} from '../on-host/inside-view.ts';
import { placeOfTool, plainView, toolPaths } from './inside-view.ts';
import { generationMark } from './last-words.ts';
import { LAUNCH_SCRIPT } from './launch-script.ts';
import { groupName } from './leftovers.ts';
import type { ProcessRuntimeOptions } from './options.ts';
import { ensurePrivateDir } from '../on-host/private-dir.ts';
import { removeContents, removeTree } from '../on-host/remove-tree.ts';
import type { SandboxPaths } from './sandbox-paths.ts';
import { createStage } from './staging.ts';
import { writeRecord, type SandboxRecord } from './sandbox-record.ts';
import { claimUser } from './user-claims.ts';

/** Read by the first program of the sandbox; see inside/init.ts. */
const KEY_DESCRIPTOR = 5;

interface LaunchOrder {
  readonly options: ProcessRuntimeOptions;
  readonly isolation: Isolation;
  readonly limits: ResourceLimits;
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
  const user = await prepareDirectories(order);
  const record = await newRecord(order);
  await rm(paths.process, { force: true });
  await rm(paths.status, { force: true });
  await rm(paths.endedFor, { force: true });
  await writeRecord(paths, record);
  const filter = await writeFilter(order);
  const { command, view } = await commandOf(order, { record, user });
  if (record.group !== null) await makeGroup(record.group, order.limits.bounds);
  await spawnDetached(order, {
    command,
    environment: insideEnvironment(view, record),
    filter,
    group: record.group,
  });
  return record;
}

/**
 * The agent may have left anything in its socket directory and home; workspace and state are kept (D15).
 * The user of the host that they belong to; null where that is our own.
 */
async function prepareDirectories({ options, paths, isolation }: LaunchOrder): Promise<number | null> {
  await mkdir(paths.dir, { recursive: true, mode: 0o700 });
  await mkdir(paths.workspace, { recursive: true, mode: 0o755 });
  await mkdir(paths.agent, { recursive: true, mode: 0o700 });
  await ensurePrivateDir(options.socketDir);
  await ensurePrivateDir(paths.socketDir);
  await removeContents(paths.socketDir);
  await mkdir(paths.offeredDir, { mode: 0o700 });
  const isOwn = isolation.kind === 'namespaces' && isolation.ownUsers;
  const user = isOwn ? await claimUser(paths.dir) : null;
  if (user !== null)
    for (const dir of [paths.workspace, paths.agent, paths.offeredDir]) await giveTo(user, dir);
  await removeTree(paths.home);
  if (isolation.kind === 'none') await mkdir(paths.home, { mode: 0o700 });
  return user;
}

/** The path of the filter of the first program; empty where the sandbox has none. Beside it that of tools. */
async function writeFilter({ isolation, paths }: LaunchOrder): Promise<string> {
  if (isolation.kind === 'none' || !isolation.seals.filters) return '';
  const { nests } = isolation.seals;
  for (const [file, part] of [
    [paths.filter, nests ? 'server' : 'tools'],
    [paths.toolFilter, 'tools'],
  ] as const) {
    const bytes = sandboxFilter(process.arch, part);
    if (bytes === null) return '';
    await writeFile(file, bytes, { mode: 0o644 });
  }
  return paths.filter;
}

/** One group for each incarnation, so that what it reports is about that one. */
function newGroup({ options, limits, paths, request }: LaunchOrder): SandboxGroup | null {
  if (limits.groups === null) return null;
  return groupOf(limits.groups, groupName(options.dataDir, paths.dir, request.generation));
}

async function newRecord(order: LaunchOrder): Promise<SandboxRecord> {
  const { options, isolation, previous, request } = order;
  const plain = isolation.kind === 'none';
  return {
    version: 1,
    sandboxId: request.sandboxId,
    generation: request.generation,
    desired: 'up',
    isolation: isolation.kind,
    ports: plain ? await chooseFreePorts(previous?.ports ?? null) : BOUND_PORTS,
    group: newGroup(order),
    launchedAt: options.clock.now(),
  };
}

async function commandOf(
  { options, isolation, limits, paths }: LaunchOrder,
  { record, user }: { readonly record: SandboxRecord; readonly user: number | null },
): Promise<{ readonly command: readonly string[]; readonly view: InsideView }> {
  if (isolation.kind === 'none') {
    const view = plainView(options, paths);
    return { command: initCommand(view, record.ports), view };
  }
  const node = await nodeInside();
  const tools = options.tools?.() ?? [];
  const view = boundView(options, {
    node: node.path,
    searchPath: [dirname(node.path), ...toolPaths(tools, placeOfTool), SYSTEM_PATH].join(':'),
    toolbox: isolation.seals.nests ? { bwrap: isolation.bwrap, filter: INSIDE.toolFilter } : null,
  });
  await prepareEtc(paths.etc);
  const { programs, hostSockets, egressSocket = null, authorities = null } = options;
  const { seals } = isolation;
  const guard = await prepareGuard(paths.etc);
  const parts = {
    nodeBinds: [
      ...node.binds,
      ...(options.sharedFolders ?? []).map((folder) => ({ from: folder, to: folder })),
      ...tools.map((tool) => ({ from: tool.folder, to: placeOfTool(tool) })),
    ],
    programs,
    hostSockets,
    egressSocket,
    authorities,
    guard,
    toolFilter: seals.nests ? paths.toolFilter : null,
    seals,
    memoryBytes: limits.bounds.memoryBytes,
  };
  const inside = [...processCountPrefix(limits), ...initCommand(view, record.ports)];
  if (user === null)
    return { command: [isolation.bwrap, ...sandboxArguments(parts, paths), ...inside], view };
  const sources: string[] = [];
  sandboxArguments(parts, paths, (path) => sources[sources.push(path) - 1] ?? path);
  const stage = createStage(sources);
  const command = [isolation.bwrap, ...sandboxArguments(parts, paths, stage.at), ...inside];
  await writeFile(paths.stage, stage.table(), { mode: 0o600 });
  return { command: stage.command(user, paths.stage, command), view };
}

interface Launched {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly filter: string;
  readonly group: SandboxGroup | null;
}

async function spawnDetached(order: LaunchOrder, launched: Launched): Promise<void> {
  const { paths, request, isolation, limits } = order;
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const log = await open(paths.log, flags, 0o600);
  try {
    await log.write(generationMark(request.generation));
    const entrances = launched.group === null ? [] : entrancesOf(launched.group);
    const groups = [String(entrances.length), ...entrances];
    const rest = [launched.filter, ...launchLimits(limits), ...groups, ...launched.command];
    const child = spawn(
      '/bin/sh',
      ['-c', LAUNCH_SCRIPT, 'parley-sandbox', paths.process, paths.status, ...rest],
      {
        cwd: isolation.kind === 'none' ? paths.workspace : '/',
        env: launched.environment,
        detached: true,
        // 3 and 4 are opened by the script; the key goes through 5, which our end of closes at once.
        stdio: ['ignore', log.fd, log.fd, 'ignore', 'ignore', 'pipe'],
      },
    );
    child.unref();
    handOver(child.stdio.at(KEY_DESCRIPTOR), request.sessionKey);
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

/** The kernel keeps what is written until the first program reads it, also when we end before that. */
function handOver(pipe: Readable | Writable | null | undefined, sessionKey: string): void {
  if (pipe === null || pipe === undefined || !('end' in pipe)) return;
  // A launch that failed before the key was read is reported in its log.
  pipe.on('error', () => undefined);
  pipe.end(sessionKey);
}

/** Three different free ports; the preferred ones where they are free, so that addresses survive a resume. */
async function chooseFreePorts(preferred: RoutePorts | null): Promise<RoutePorts> {
  const held: Server[] = [];
  try {
    const take = async (wanted: number | undefined): Promise<number> => {
      const server = await holdFreePort(wanted ?? null);
      held.push(server);
      return portOf(server);
    };
    const proxy = await take(preferred?.proxy);
    const webhook = await take(preferred?.webhook);
    return { proxy, webhook, git: await take(preferred?.git) };
  } finally {
    await Promise.all(held.map(release));
  }
}

const run = promisify(execFile);

/** Trees of a former owner; millions of files take minutes. */
const GIVE_TIMEOUT_MS = 600_000;

/** A directory with what is in it; links are given and never followed. Nothing of the sandbox may run. */
async function giveTo(user: number, directory: string): Promise<void> {
  const { uid, gid } = await lstat(directory);
  if (uid === user && gid === user) return;
  await run('chown', ['-hR', `${user}:${user}`, '--', directory], {
    timeout: GIVE_TIMEOUT_MS,
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
  });
  // Last, because its owner stands for the whole: a change that broke off half way begins again.
  await chown(directory, user, user);
}
