/**
 * Sandboxes as containers of the Docker daemon of this host.
 * Owns the port's operations over containers and directories; every answer is read from them, so a restart of ours
 * loses nothing. Must not hold a rule about lifecycles.
 */
import { basename, join } from 'node:path';
import type { SandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type {
  RuntimeCapabilities,
  RuntimeFreezer,
  RuntimePresence,
  SandboxLimits,
  SandboxRuntime,
} from '../../ports/sandbox-runtime.ts';
import { watchDisks } from '../on-host/disk-watch.ts';
import { destroyByRecord, stopByRecord, type OnRecord } from '../on-host/ended-by-record.ts';
import { guarded, guardedOperations } from '../on-host/guard/guarded.ts';
import { checkHostSockets } from '../on-host/host-sockets.ts';
import { leaveDiskLimit } from '../on-host/last-words.ts';
import { DEFAULT_LIMITS, DISK_POLL_MS, SANDBOX_FILES_MAX } from '../on-host/limits.ts';
import { overtakenOrder } from '../on-host/order-refusals.ts';
import { presenceByRecord } from '../on-host/presence-by-record.ts';
import { removeTree } from '../on-host/remove-tree.ts';
import { filesAsObject } from '../on-host/tools-user.ts';
import {
  sandboxIds,
  sandboxPlace,
  type SandboxPlace,
  SOCKET_DIRECTORY,
  namesIn,
} from '../on-host/sandbox-place.ts';
import { createSandboxTurns, type SandboxTurns } from '../on-host/sandbox-turns.ts';
import { exportDirectory } from '../workspace-archive/export-directory.ts';
import { containerUser } from './container-user.ts';
import {
  findContainer,
  killContainer,
  listContainers,
  setFrozen,
  type Containers,
  removeContainer,
} from './containers.ts';
import { dockerDaemon } from './docker-daemon.ts';
import { readLastWords } from './last-words.ts';
import { containerName } from './names.ts';
import type { DockerRuntimeOptions } from './options.ts';
import { readRecord, writeRecord, type SandboxRecord } from './sandbox-record.ts';
import { addressOf, endContainers, startSandbox } from './start-sandbox.ts';

interface Context {
  readonly options: DockerRuntimeOptions;
  readonly limits: SandboxLimits;
  readonly containers: Containers;
  readonly turns: SandboxTurns;
  readonly placeOf: (id: SandboxId) => SandboxPlace;
}

type Target = Parameters<SandboxRuntime['stop']>[0];

/**
 * Only one runtime may use a `dataDir` at a time; another one takes over after it has ended. Asks the daemon nothing
 * before the first call.
 * @throws ParleyError runtime_failed: a host socket lies in a directory that must not be bound into sandboxes
 */
export function createDockerRuntime(options: DockerRuntimeOptions): SandboxRuntime {
  checkHostSockets(options);
  const { dataDir, clock, daemonSocket } = options;
  const context: Context = {
    options,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    containers: { daemon: dockerDaemon(daemonSocket), dataDir, clock },
    turns: createSandboxTurns(),
    placeOf: (id) => sandboxPlace(options, id),
  };
  watchWorkspaces(context);
  return {
    capabilities: capabilitiesOf(options),
    freezer: freezerOf(context),
    ...guardedOperations({
      removeLeftovers: () => sweep(context),
      start: (request) => start(context, request),
      stop: (target) => stop(context, target),
      destroy: (id) => destroy(context, id),
      inspect: (id) => inspect(context, id),
      list: () => list(context),
      exportWorkspace: (id) => exportWorkspace(context, id),
    }),
  };
}

function capabilitiesOf({
  egressSocket = null,
  splitsTools = false,
}: DockerRuntimeOptions): RuntimeCapabilities {
  return {
    kind: 'docker',
    isolation: 'container',
    tools: splitsTools && filesAsObject(process.arch, containerUser()) !== null ? 'apart' : 'beside',
    pause: ['files', 'memory'],
    resume: { files: 'boot', memory: 'thaw' },
    egress: egressSocket === null ? 'none' : 'allow_list',
    limits: {
      memory: 'sandbox',
      processes: 'sandbox',
      cpu: 'sandbox',
      fileSize: 'process',
      workspace: 'watched',
    },
    export: 'always',
    survivesRestart: true,
  };
}

const start = (
  context: Context,
  request: Parameters<SandboxRuntime['start']>[0],
): ReturnType<SandboxRuntime['start']> =>
  context.turns.start({ id: request.sandboxId, generation: request.generation }, async (overtaken) => {
    const { options, limits, containers, turns } = context;
    const endedGeneration = turns.endedGeneration(request.sandboxId);
    const place = context.placeOf(request.sandboxId);
    return await startSandbox({ options, limits, containers, place, request, endedGeneration, overtaken });
  });

const stop = (context: Context, target: Target): Promise<void> =>
  stopByRecord(onRecord(context, target.sandboxId), target.generation, () =>
    endContainers(context.containers, target),
  );

async function destroy(context: Context, id: SandboxId): Promise<void> {
  const { socketDir, workspace, agent, dir } = context.placeOf(id);
  const trees = [socketDir, workspace, agent, dir];
  await destroyByRecord(onRecord(context, id), trees, () =>
    endContainers(context.containers, { sandboxId: id }),
  );
}

function onRecord({ placeOf, turns }: Context, id: SandboxId): OnRecord<SandboxRecord> {
  const place = placeOf(id);
  return { id, turns, read: () => readRecord(place), write: (record) => writeRecord(place, record) };
}

function inspect(context: Context, id: SandboxId): Promise<RuntimePresence> {
  return presenceByRecord(
    () => readRecord(context.placeOf(id)),
    async ({ generation }) => {
      const place = context.placeOf(id);
      const name = containerName(context.options.dataDir, id, generation);
      const container = await findContainer(context.containers, name);
      if (container?.status === 'running' || container?.status === 'frozen') {
        const address = addressOf(place, { sandboxId: id, generation });
        return { kind: 'up', address, isFrozen: container.status === 'frozen' };
      }
      // Between the record and the container nothing can be said yet.
      if (container?.status !== 'ended' && context.turns.isStarting(id))
        return { kind: 'unknown', reason: 'its container is being made' };
      return {
        kind: 'down',
        lastWords: () => readLastWords(context.containers, { place, name, container }),
      };
    },
  );
}

async function list(context: Context): ReturnType<SandboxRuntime['list']> {
  const { options, containers } = context;
  const ids = await sandboxIds(options.dataDir);
  const up = (await listContainers(containers)).filter((one) => one.up);
  const isUp = new Set(up.map(({ marks }) => `${marks.sandboxId} ${marks.generation}`));
  const found = [];
  for (const id of ids) {
    const record = await readRecord(context.placeOf(id));
    // A directory without a record is the rest of a first start or of a removal: there, and never up.
    const generation = record?.generation ?? 0;
    found.push({ sandboxId: id, generation, up: isUp.has(`${id} ${generation}`) });
  }
  return found;
}

function freezerOf(context: Context): RuntimeFreezer {
  const change = (target: Target, frozen: boolean): Promise<void> => {
    const { sandboxId: id, generation } = target;
    const verb = frozen ? 'freeze' : 'thaw';
    const work = context.turns.change(id, async () => {
      const record = await readRecord(context.placeOf(id));
      if (record !== null && record.generation > generation)
        throw overtakenOrder(verb, target, record.generation);
      const name = containerName(context.options.dataDir, id, generation);
      const isWanted = record?.generation === generation && record.desired === 'up';
      const status = isWanted ? (await findContainer(context.containers, name))?.status : undefined;
      if (status !== 'running' && status !== 'frozen') {
        throw new ParleyError('runtime_gone', `Cannot ${verb} generation ${generation}: it is not up`);
      }
      await setFrozen(context.containers, name, frozen);
    });
    return guarded(`${verb} sandbox "${id}"`, work);
  };
  return { freeze: (target) => change(target, true), thaw: (target) => change(target, false) };
}

async function sweep(context: Context): Promise<readonly string[]> {
  const { options, containers } = context;
  const held = async (): Promise<
    { place: SandboxPlace; record: Awaited<ReturnType<typeof readRecord>> }[]
  > => {
    const places = (await sandboxIds(options.dataDir)).map((id) => context.placeOf(id));
    return await Promise.all(places.map(async (place) => ({ place, record: await readRecord(place) })));
  };
  return await removeLeftovers({ socketDir: options.socketDir, containers, held });
}

function watchWorkspaces(context: Context): void {
  const { workspaceBytes: bytesMax } = context.limits;
  watchDisks({
    bytesMax,
    filesMax: context.options.filesMax ?? SANDBOX_FILES_MAX,
    everyMs: context.options.diskLookMs ?? DISK_POLL_MS,
    upNow: async () => (await list(context)).filter((sandbox) => sandbox.up),
    treesOf: ({ sandboxId: id }) => {
      const { workspace, agent, plugins } = context.placeOf(id);
      return [workspace, agent, plugins];
    },
    socketDirOf: ({ sandboxId: id }) => context.placeOf(id).offeredDir,
    // What runs in a container is the daemon's to tell, and it does not tell what is open.
    processesOf: () => Promise.resolve([]),
    async end({ sandboxId: id, generation }, bound) {
      await leaveDiskLimit(context.placeOf(id).endedFor, bound);
      await killContainer(context.containers, containerName(context.options.dataDir, id, generation));
    },
  });
}

async function* exportWorkspace(context: Context, id: SandboxId): AsyncGenerator<Uint8Array> {
  const place = context.placeOf(id);
  const record = await readRecord(place);
  if (record === null || record.desired === 'destroyed') {
    throw new ParleyError('runtime_gone', `Cannot export sandbox "${id}": there is no such sandbox`);
  }
  yield* exportDirectory(place.workspace);
}

interface Holdings {
  readonly socketDir: string;
  readonly containers: Containers;
  /** Read after what lies around was listed: whatever is being made now has its record already. */
  readonly held: () => Promise<
    readonly { readonly place: SandboxPlace; readonly record: SandboxRecord | null }[]
  >;
}

/** One line for each thing that was removed. */
async function removeLeftovers({ socketDir, containers, held }: Holdings): Promise<readonly string[]> {
  const sockets = (await namesIn(socketDir)).filter((name) => SOCKET_DIRECTORY.test(name));
  const listed = await listContainers(containers);
  const all = await held();
  const removed: string[] = [];
  const ownSockets = new Set(all.map(({ place }) => basename(place.socketDir)));
  for (const name of sockets.filter((one) => !ownSockets.has(one))) {
    await removeTree(join(socketDir, name));
    removed.push(`socket directory ${name}`);
  }
  const generations = new Map(
    all.flatMap(({ record }) => (record === null ? [] : [[record.sandboxId, record.generation] as const])),
  );
  for (const { id, marks } of listed) {
    const generation = generations.get(marks.sandboxId);
    // An older one is the rest of a start that was cut off; a newer one cannot be: its record comes first.
    if (generation !== undefined && marks.generation >= generation) continue;
    await removeContainer(containers, id);
    removed.push(`container of sandbox ${marks.sandboxId}, generation ${marks.generation}`);
  }
  return removed;
}
