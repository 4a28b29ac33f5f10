/**
 * Sandboxes as containers of the Docker daemon of this host.
 * Owns the port's operations over containers and directories; every answer is read from them, so a restart of ours
 * loses nothing. Must not hold a rule about lifecycles.
 */
import type { SandboxId } from '../../core/ids.ts';
import type { RuntimeCapabilities, SandboxRuntime } from '../../ports/sandbox-runtime.ts';
import { checkHostSockets } from '../on-host/host-sockets.ts';
import { DEFAULT_LIMITS } from '../on-host/limits.ts';
import { runtimeByRecord, type OnRecord, type Seen } from '../on-host/runtime-by-record.ts';
import { sandboxPlace, type SandboxPlace } from '../on-host/sandbox-place.ts';
import { createSandboxTurns, type SandboxTurns } from '../on-host/sandbox-turns.ts';
import { filesAsObject } from '../on-host/tools-user.ts';
import { containerUser } from './container-user.ts';
import {
  findContainer,
  killContainer,
  listContainers,
  removeContainer,
  setFrozen,
  type Containers,
} from './containers.ts';
import { dockerDaemon } from './docker-daemon.ts';
import { readLastWords } from './last-words.ts';
import { containerName } from './names.ts';
import type { DockerRuntimeOptions } from './options.ts';
import { readRecord, writeRecord, type SandboxRecord } from './sandbox-record.ts';
import { addressOf, endContainers, startSandbox } from './start-sandbox.ts';

/**
 * Only one runtime may use a `dataDir` at a time; another one takes over after it has ended. Sends the daemon nothing
 * before the first call.
 * @throws ParleyError runtime_failed: a host socket lies in a directory that must not be bound into sandboxes
 */
export function createDockerRuntime(options: DockerRuntimeOptions): SandboxRuntime {
  checkHostSockets(options);
  const { dataDir, clock, daemonSocket } = options;
  const containers = { daemon: dockerDaemon(daemonSocket), dataDir, clock };
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const turns = createSandboxTurns();
  const nameOf = (id: SandboxId, generation: number): string => containerName(dataDir, id, generation);
  const operations = runtimeByRecord<SandboxPlace, SandboxRecord>({
    options,
    turns,
    bytesMax: limits.workspaceBytes,
    placeOf: (id) => sandboxPlace(options, id),
    read: readRecord,
    write: writeRecord,
    start: (order) => startSandbox({ options, limits, containers, ...order }),
    end: ({ id }) => endContainers(containers, { sandboxId: id }),
    see: (one) => see({ containers, turns }, one),
    async upNow() {
      const up = (await listContainers(containers)).filter((one) => one.up);
      const isUp = new Set(up.map(({ marks }) => `${marks.sandboxId} ${marks.generation}`));
      return ({ id, record }) => isUp.has(`${id} ${record.generation}`);
    },
    async setFrozen({ id, record }, frozen) {
      const name = nameOf(id, record.generation);
      const status = (await findContainer(containers, name))?.status;
      if (status !== 'running' && status !== 'frozen') return false;
      await setFrozen(containers, name, frozen);
      return true;
    },
    treesOf: ({ socketDir, workspace, agent, dir }) => [socketDir, workspace, agent, dir],
    keptTreesOf: ({ workspace, agent, plugins }) => [workspace, agent, plugins],
    // Only the daemon lists what runs in a container, and it does not report what is open.
    processesOf: () => Promise.resolve([]),
    kill: (_, { sandboxId: id, generation }) => killContainer(containers, nameOf(id, generation)),
    others: () => leftContainers(containers),
  });
  return { capabilities: capabilitiesOf(options), ...operations };
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

async function see(
  { containers, turns }: { readonly containers: Containers; readonly turns: SandboxTurns },
  { id, place, record: { generation } }: OnRecord<SandboxPlace, SandboxRecord>,
): Promise<Seen> {
  const name = containerName(containers.dataDir, id, generation);
  const container = await findContainer(containers, name);
  if (container?.status === 'running' || container?.status === 'frozen') {
    const address = addressOf(place, { sandboxId: id, generation });
    return { kind: 'up', address, isFrozen: container.status === 'frozen' };
  }
  // Between the record and the container nothing can be said yet.
  if (container?.status !== 'ended' && turns.isStarting(id))
    return { kind: 'unknown', reason: 'its container is being made' };
  return { kind: 'down', lastWords: () => readLastWords(containers, { place, name, container }) };
}

async function leftContainers(
  containers: Containers,
): Promise<(records: readonly SandboxRecord[]) => Promise<readonly string[]>> {
  const listed = await listContainers(containers);
  return async (records) => {
    const generations = new Map(records.map((record) => [record.sandboxId, record.generation]));
    const removed: string[] = [];
    for (const { id, marks } of listed) {
      const generation = generations.get(marks.sandboxId);
      // An older one is the rest of a start that was cut off; a newer one cannot be: its record comes first.
      if (generation !== undefined && marks.generation >= generation) continue;
      await removeContainer(containers, id);
      removed.push(`container of sandbox ${marks.sandboxId}, generation ${marks.generation}`);
    }
    return removed;
  };
}
