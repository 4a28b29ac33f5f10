/**
 * Sandboxes as processes of this host: bubblewrap namespaces, or plain processes where those do not work.
 * Owns the port's operations over directories and processes; every answer is read from them, so a restart of ours
 * loses nothing. Must not hold a rule about lifecycles.
 */
import { mkdir, readdir } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { sandboxId } from '../../core/ids.ts';
import type { SandboxId } from '../../core/ids.ts';
import { ParleyError, asParleyError } from '../../core/parley-error.ts';
import type { RuntimeCapabilities, RuntimePresence, SandboxRuntime } from '../../ports/sandbox-runtime.ts';
import { exportDirectory } from '../workspace-archive/export-directory.ts';
import { isRunning } from './incarnation.ts';
import { addressOf } from './inside-view.ts';
import { chooseIsolation } from './isolation.ts';
import type { Isolation } from './isolation.ts';
import { readLastWords } from './last-words.ts';
import type { HostSockets, ProcessRuntimeOptions } from './options.ts';
import { removeTree } from './remove-tree.ts';
import { SANDBOX_ID_PATTERN, sandboxPaths } from './sandbox-paths.ts';
import type { SandboxPaths } from './sandbox-paths.ts';
import { isMissing, readRecord, writeRecord } from './sandbox-record.ts';
import { createSandboxTurns } from './sandbox-turns.ts';
import type { SandboxTurns } from './sandbox-turns.ts';
import { startSandbox } from './start-sandbox.ts';
import { stopIncarnation } from './stop-incarnation.ts';

interface Context {
  readonly options: ProcessRuntimeOptions;
  readonly isolation: Isolation;
  readonly turns: SandboxTurns;
  readonly pathsOf: (id: SandboxId) => SandboxPaths;
}

/**
 * Only one runtime may use a `dataDir` at a time; another one takes over after it has ended.
 * @throws ParleyError runtime_failed: namespaces were asked for and do not work here, or a host socket lies in a
 *   directory that must not be bound into sandboxes
 */
export function createProcessRuntime(options: ProcessRuntimeOptions): SandboxRuntime {
  checkHostSockets(options);
  const isolation = chooseIsolation(options);
  const pathsOf = (id: SandboxId): SandboxPaths => sandboxPaths(options, id);
  const context: Context = { options, isolation, pathsOf, turns: createSandboxTurns() };
  return {
    capabilities: capabilitiesOf(isolation),
    start: (request) => guarded(`start sandbox "${request.sandboxId}"`, start(context, request)),
    stop: (target) => guarded(`stop sandbox "${target.sandboxId}"`, stop(context, target)),
    destroy: (id) => guarded(`remove sandbox "${id}"`, destroy(context, id)),
    inspect: (id) => inspect(context, id),
    list: () => guarded('list sandboxes', list(context)),
    exportWorkspace: (id) => exportWorkspace(context, id),
  };
}

function capabilitiesOf(isolation: Isolation): RuntimeCapabilities {
  const plain = isolation.kind === 'none';
  return { kind: 'process', isolation: isolation.kind, pause: ['files'], egress: plain ? 'open' : 'none' };
}

/** What the system refuses (a full disk, a mode) says nothing about the sandbox: the caller may ask again. */
async function guarded<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ParleyError('runtime_unreachable', `Cannot ${what}: ${reason}`, { cause: error });
  }
}

/** The whole directory of a host socket is bound, so it must not lead to other sandboxes or to our data. */
function checkHostSockets({ hostSockets, socketDir, dataDir }: ProcessRuntimeOptions): void {
  for (const name of ['proxy', 'webhook', 'git'] as const satisfies readonly (keyof HostSockets)[]) {
    const dir = resolve(dirname(hostSockets[name]));
    for (const kept of [resolve(socketDir), resolve(dataDir)]) {
      if (!relative(dir, kept).startsWith('..')) {
        const message = `Cannot bind host socket "${hostSockets[name]}": its directory holds "${kept}"`;
        throw new ParleyError('runtime_failed', message);
      }
    }
  }
}

const start = (
  context: Context,
  request: Parameters<SandboxRuntime['start']>[0],
): ReturnType<SandboxRuntime['start']> =>
  context.turns.start({ id: request.sandboxId, generation: request.generation }, async (overtaken) => {
    const { options, isolation } = context;
    const paths = context.pathsOf(request.sandboxId);
    await prepareHostSocketDirs(options);
    const endedGeneration = context.turns.endedGeneration(request.sandboxId);
    return await startSandbox({ options, isolation, paths, request, endedGeneration, overtaken });
  });

/** A bind of a missing directory would fail the start; the sockets in it may come later. */
async function prepareHostSocketDirs({ hostSockets }: ProcessRuntimeOptions): Promise<void> {
  for (const path of Object.values(hostSockets)) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  }
}

async function stop(context: Context, target: Parameters<SandboxRuntime['stop']>[0]): Promise<void> {
  const { sandboxId: id, generation } = target;
  await context.turns.end({ id, generation }, async () => {
    const paths = context.pathsOf(id);
    const record = await readRecord(paths);
    if (record !== null && record.generation > generation) {
      const message = `Cannot stop generation ${generation} of sandbox "${id}": generation ${record.generation} was started`;
      throw new ParleyError('stale_generation', message, { details: { generation } });
    }
    context.turns.rememberEnded({ id, generation });
    if (record === null || record.desired === 'destroyed') return;
    await writeRecord(paths, { ...record, generation, desired: 'stopped' });
    await stopIncarnation({ paths, record }, context.options.clock);
  });
}

/** The record goes last: a removal that was cut off is seen by `list` and simply asked again. */
async function destroy(context: Context, id: SandboxId): Promise<void> {
  await context.turns.end({ id, generation: Number.MAX_SAFE_INTEGER }, async () => {
    const paths = context.pathsOf(id);
    const record = await readRecord(paths);
    if (record !== null) {
      context.turns.rememberEnded({ id, generation: record.generation });
      await writeRecord(paths, { ...record, desired: 'destroyed' });
      await stopIncarnation({ paths, record }, context.options.clock);
    }
    for (const path of [paths.socketDir, paths.workspace, paths.agent, paths.home, paths.dir]) {
      await removeTree(path);
    }
  });
}

async function inspect(context: Context, id: SandboxId): Promise<RuntimePresence> {
  try {
    const paths = context.pathsOf(id);
    const record = await readRecord(paths);
    if (record === null || record.desired === 'destroyed') return { kind: 'gone' };
    const { generation } = record;
    if (await isRunning(paths)) return { kind: 'up', generation, address: addressOf(record, paths) };
    if (record.desired === 'stopped') return { kind: 'stopped', generation };
    return { kind: 'crashed', generation, reason: await readLastWords(paths) };
  } catch (error) {
    return { kind: 'unknown', reason: asParleyError(error).message };
  }
}

async function list(context: Context): ReturnType<SandboxRuntime['list']> {
  const dir = join(context.options.dataDir, 'sandboxes');
  const names = await readdir(dir).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  const found = [];
  for (const name of names.filter((entry) => SANDBOX_ID_PATTERN.test(entry))) {
    const paths = context.pathsOf(sandboxId(name));
    const record = await readRecord(paths);
    // A directory without a record is the rest of a first start or of a removal: there, and never up.
    const up = record !== null && (await isRunning(paths));
    found.push({ sandboxId: sandboxId(name), generation: record?.generation ?? 0, up });
  }
  return found;
}

async function* exportWorkspace(context: Context, id: SandboxId): AsyncGenerator<Uint8Array> {
  const paths = context.pathsOf(id);
  const record = await readRecord(paths);
  if (record === null || record.desired === 'destroyed') {
    throw new ParleyError('runtime_gone', `Cannot export sandbox "${id}": there is no such sandbox`);
  }
  yield* exportDirectory(paths.workspace);
}
