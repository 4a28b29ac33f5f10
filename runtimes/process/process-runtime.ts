/**
 * Sandboxes as processes of this host: bubblewrap namespaces, or plain processes where those do not work.
 * Owns the port's operations over directories and processes; every answer is read from them, so a restart of ours
 * loses nothing. Must not hold a rule about lifecycles.
 */
import type { SandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type {
  RuntimeCapabilities,
  RuntimeFreezer,
  RuntimePresence,
  SandboxRuntime,
} from '../../ports/sandbox-runtime.ts';
import { watchDisks } from '../on-host/disk-watch.ts';
import { destroyByRecord, stopByRecord, type OnRecord } from '../on-host/ended-by-record.ts';
import { guarded, guardedOperations } from '../on-host/guard/guarded.ts';
import { keepDescriptorsFromChildren } from '../on-host/inherited-descriptors.ts';
import { checkHostSockets, prepareHostSocketDirs } from '../on-host/host-sockets.ts';
import { presenceByRecord } from '../on-host/presence-by-record.ts';
import { sandboxIds } from '../on-host/sandbox-place.ts';
import { exportDirectory } from '../workspace-archive/export-directory.ts';
import { isGroupFrozen, processesIn } from './cgroups/sandbox-group.ts';
import { changeFrozen, type FreezeOrder } from './freezer.ts';
import { findProcesses, isRunning } from './incarnation.ts';
import { addressOf } from './inside-view.ts';
import { chooseIsolation, type Isolation } from './isolation.ts';
import { readLastWords } from './last-words.ts';
import { readLaunched } from './launch-script.ts';
import { removeLeftovers, type Holdings } from './leftovers.ts';
import { DISK_POLL_MS, SANDBOX_FILES_MAX } from '../on-host/limits.ts';
import type { ProcessRuntimeOptions } from './options.ts';
import { descendantsOf } from './process-table.ts';
import { chooseLimits, type ResourceLimits } from './resource-limits.ts';
import { sandboxPaths, type SandboxPaths } from './sandbox-paths.ts';
import { readRecord, writeRecord, type SandboxRecord } from './sandbox-record.ts';
import { createSandboxTurns, type SandboxTurns } from '../on-host/sandbox-turns.ts';
import { startSandbox } from './start-sandbox.ts';
import { endForDisk, stopIncarnation } from './stop-incarnation.ts';

interface Context {
  readonly options: ProcessRuntimeOptions;
  readonly isolation: Isolation;
  readonly limits: ResourceLimits;
  readonly turns: SandboxTurns;
  readonly pathsOf: (id: SandboxId) => SandboxPaths;
}

/**
 * Only one runtime may use a `dataDir` at a time; another one takes over after it has ended.
 * @throws ParleyError runtime_failed: namespaces were asked for and do not work here, or a host socket lies in a
 *   directory that must not be bound into sandboxes
 */
export function createProcessRuntime(options: ProcessRuntimeOptions): SandboxRuntime {
  keepDescriptorsFromChildren();
  checkHostSockets(options);
  const isolation = chooseIsolation(options);
  const pathsOf = (id: SandboxId): SandboxPaths => sandboxPaths(options, id);
  const limits = chooseLimits(options, isolation);
  const context: Context = { options, isolation, limits, pathsOf, turns: createSandboxTurns() };
  watchWorkspaces(context);
  const capabilities = capabilitiesOf(context);
  return {
    capabilities,
    ...(capabilities.pause.includes('memory') ? { freezer: freezerOf(context) } : {}),
    ...guardedOperations({
      removeLeftovers: () => removeLeftovers(holdingsOf(context)),
      start: (request) => start(context, request),
      stop: (target) => stop(context, target),
      destroy: (id) => destroy(context, id),
      inspect: (id) => inspect(context, id),
      list: () => list(context),
      exportWorkspace: (id) => exportWorkspace(context, id),
    }),
  };
}

function capabilitiesOf({ isolation, limits, options }: Context): RuntimeCapabilities {
  const canFreeze = limits.groups?.parents.freezer !== undefined;
  const narrow = (options.egressSocket ?? null) === null ? 'none' : 'allow_list';
  return {
    kind: 'process',
    isolation: isolation.kind,
    tools: isolation.kind === 'namespaces' && isolation.seals.nests ? 'apart' : 'beside',
    pause: canFreeze ? ['files', 'memory'] : ['files'],
    resume: { files: 'boot', memory: canFreeze ? 'thaw' : null },
    egress: isolation.kind === 'none' ? 'open' : narrow,
    limits: limits.strengths,
    export: 'always',
    survivesRestart: true,
  };
}

function freezerOf(context: Context): RuntimeFreezer {
  const change = (target: Parameters<RuntimeFreezer['freeze']>[0], frozen: boolean): Promise<void> => {
    const { sandboxId: id, generation } = target;
    const { clock } = context.options;
    const order = (): FreezeOrder => ({
      sandboxId: id,
      paths: context.pathsOf(id),
      generation,
      frozen,
      clock,
    });
    const work = context.turns.change(id, () => changeFrozen(order()));
    return guarded(`${frozen ? 'freeze' : 'thaw'} sandbox "${id}"`, work);
  };
  return { freeze: (target) => change(target, true), thaw: (target) => change(target, false) };
}

function holdingsOf(context: Context): Holdings {
  const { socketDir, dataDir } = context.options;
  const held = async (): ReturnType<Holdings['held']> => {
    const all = (await sandboxIds(context.options.dataDir)).map((id) => context.pathsOf(id));
    return await Promise.all(all.map(async (paths) => ({ paths, record: await readRecord(paths) })));
  };
  return { socketDir, dataDir, groups: context.limits.groups, held };
}

function watchWorkspaces(context: Context): void {
  const { workspaceBytes: bytesMax } = context.limits.bounds;
  const upNow = async (): Promise<readonly SandboxPaths[]> => {
    const up = (await list(context)).filter((sandbox) => sandbox.up);
    return up.map(({ sandboxId: id }) => context.pathsOf(id));
  };
  watchDisks({
    bytesMax,
    filesMax: context.options.filesMax ?? SANDBOX_FILES_MAX,
    everyMs: context.options.diskLookMs ?? DISK_POLL_MS,
    upNow,
    treesOf: ({ workspace, agent, log }) => [workspace, agent, log],
    socketDirOf: ({ offeredDir }) => offeredDir,
    processesOf,
    end: endForDisk,
  });
}

/** By the control group where there is one: the table of processes is read whole. */
async function processesOf(paths: SandboxPaths): Promise<readonly number[]> {
  const group = (await readRecord(paths))?.group ?? null;
  if (group !== null) return await processesIn(group);
  const { launched, namespaceInit } = await findProcesses(paths);
  const first = namespaceInit ?? launched;
  return first === null ? [] : [first, ...(await descendantsOf(first))];
}

const start = (
  context: Context,
  request: Parameters<SandboxRuntime['start']>[0],
): ReturnType<SandboxRuntime['start']> =>
  context.turns.start({ id: request.sandboxId, generation: request.generation }, async (overtaken) => {
    const { options, isolation, limits } = context;
    const paths = context.pathsOf(request.sandboxId);
    await prepareHostSocketDirs(options);
    const endedGeneration = context.turns.endedGeneration(request.sandboxId);
    return await startSandbox({ options, isolation, limits, paths, request, endedGeneration, overtaken });
  });

async function stop(context: Context, target: Parameters<SandboxRuntime['stop']>[0]): Promise<void> {
  const { sandboxId: id, generation } = target;
  const paths = context.pathsOf(id);
  await stopByRecord(onRecord(context, id), generation, (record) =>
    stopIncarnation({ paths, record }, context.options.clock),
  );
}

async function destroy(context: Context, id: SandboxId): Promise<void> {
  const paths = context.pathsOf(id);
  const trees = [paths.socketDir, paths.workspace, paths.agent, paths.home, paths.dir];
  await destroyByRecord(onRecord(context, id), trees, async (record) => {
    if (record !== null) await stopIncarnation({ paths, record }, context.options.clock);
  });
}

function onRecord({ pathsOf, turns }: Context, id: SandboxId): OnRecord<SandboxRecord> {
  const paths = pathsOf(id);
  return { id, turns, read: () => readRecord(paths), write: (record) => writeRecord(paths, record) };
}

function inspect(context: Context, id: SandboxId): Promise<RuntimePresence> {
  return presenceByRecord(
    () => readRecord(context.pathsOf(id)),
    async (record) => {
      const paths = context.pathsOf(id);
      // Asked before the look: between the record and the first trace of a process nothing can be said yet.
      const isComing = context.turns.isStarting(id) && (await readLaunched(paths.process)) === null;
      if (!(await isRunning(paths))) {
        if (isComing) return { kind: 'unknown', reason: 'its first process is being started' };
        return { kind: 'down', lastWords: () => readLastWords(paths, record) };
      }
      const isFrozen = record.group !== null && (await isGroupFrozen(record.group));
      return { kind: 'up', address: addressOf(record, paths), isFrozen };
    },
  );
}

async function list(context: Context): ReturnType<SandboxRuntime['list']> {
  const found = [];
  for (const id of await sandboxIds(context.options.dataDir)) {
    const paths = context.pathsOf(id);
    const record = await readRecord(paths);
    // A directory without a record is the rest of a first start or of a removal: there, and never up.
    const up = record !== null && (await isRunning(paths));
    found.push({ sandboxId: id, generation: record?.generation ?? 0, up });
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
