/**
 * Sandboxes as processes of this host: bubblewrap namespaces, or plain processes where those do not work.
 * Owns the port's operations over directories and processes; every answer is read from them, so a restart of ours
 * loses nothing. Must not hold a rule about lifecycles.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RuntimeCapabilities, SandboxRuntime } from '../../ports/sandbox-runtime.ts';
import { checkHostSockets, prepareHostSocketDirs } from '../on-host/host-sockets.ts';
import { keepDescriptorsFromChildren } from '../on-host/inherited-descriptors.ts';
import { FREEZE_WAIT_MS } from '../on-host/limits.ts';
import { runtimeByRecord, type OnRecord, type Seen } from '../on-host/runtime-by-record.ts';
import { createSandboxTurns, type SandboxTurns } from '../on-host/sandbox-turns.ts';
import { becomesTrue } from '../on-host/wait.ts';
import { isGroupFrozen, processesIn, setGroupFrozen, type SandboxGroup } from './cgroups/sandbox-group.ts';
import { findProcesses, isRunning } from './incarnation.ts';
import { addressOf } from './inside-view.ts';
import { chooseIsolation, type Isolation } from './isolation.ts';
import { readLastWords } from './last-words.ts';
import { readLaunched } from './launch-script.ts';
import { leftGroups } from './leftovers.ts';
import type { ProcessRuntimeOptions } from './options.ts';
import { descendantsOf } from './process-table.ts';
import { chooseLimits, type ResourceLimits } from './resource-limits.ts';
import { sandboxPaths, type SandboxPaths } from './sandbox-paths.ts';
import { readRecord, writeRecord, type SandboxRecord } from './sandbox-record.ts';
import { startSandbox } from './start-sandbox.ts';
import { killIncarnation, stopIncarnation } from './stop-incarnation.ts';

/**
 * Only one runtime may use a `dataDir` at a time; another one takes over after it has ended.
 * @throws ParleyError runtime_failed: namespaces were asked for and do not work here, or a host socket lies in a
 *   directory that must not be bound into sandboxes
 */
export function createProcessRuntime(options: ProcessRuntimeOptions): SandboxRuntime {
  keepDescriptorsFromChildren();
  checkHostSockets(options);
  const isolation = chooseIsolation(options);
  const limits = chooseLimits(options, isolation);
  const { dataDir, clock } = options;
  const turns = createSandboxTurns();
  const { freezer, ...operations } = runtimeByRecord<SandboxPaths, SandboxRecord>({
    options,
    turns,
    bytesMax: limits.bounds.workspaceBytes,
    placeOf: (id) => sandboxPaths(options, id),
    read: readRecord,
    write: writeRecord,
    async start({ place: paths, ...order }) {
      await prepareHostSocketDirs(options);
      return await startSandbox({ options, isolation, limits, paths, ...order });
    },
    async end({ place: paths, record }) {
      if (record !== null) await stopIncarnation({ paths, record }, clock);
    },
    see: (one) => see(turns, one),
    upNow: () => Promise.resolve(({ place }) => isRunning(place)),
    async setFrozen({ place, record: { group, generation } }, frozen) {
      if (group === null || !(await isRunning(place))) return false;
      await changeFrozen({ group, generation, frozen, clock });
      return true;
    },
    treesOf: ({ socketDir, workspace, agent, home, dir }) => [socketDir, workspace, agent, home, dir],
    keptTreesOf: ({ workspace, agent, log }) => [workspace, agent, log],
    processesOf,
    kill: killIncarnation,
    others: () => leftGroups(limits.groups, dataDir),
  });
  const capabilities = capabilitiesOf({ options, isolation, limits });
  return {
    capabilities,
    ...(capabilities.pause.includes('memory') ? { freezer } : {}),
    ...operations,
  };
}

interface Means {
  readonly options: ProcessRuntimeOptions;
  readonly isolation: Isolation;
  readonly limits: ResourceLimits;
}

function capabilitiesOf({ isolation, limits, options }: Means): RuntimeCapabilities {
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

/** By the control group where there is one: the table of processes is read whole. */
async function processesOf(paths: SandboxPaths): Promise<readonly number[]> {
  const group = (await readRecord(paths))?.group ?? null;
  if (group !== null) return await processesIn(group);
  const { launched, namespaceInit } = await findProcesses(paths);
  const first = namespaceInit ?? launched;
  return first === null ? [] : [first, ...(await descendantsOf(first))];
}

async function see(turns: SandboxTurns, one: OnRecord<SandboxPaths, SandboxRecord>): Promise<Seen> {
  const { id, place: paths, record } = one;
  // Asked first: between the record and the first trace of a process nothing can be said yet.
  const isComing = turns.isStarting(id) && (await readLaunched(paths.process)) === null;
  if (!(await isRunning(paths))) {
    if (isComing) return { kind: 'unknown', reason: 'its first process is being started' };
    return { kind: 'down', lastWords: () => readLastWords(paths, record) };
  }
  const isFrozen = record.group !== null && (await isGroupFrozen(record.group));
  return { kind: 'up', address: addressOf(record, paths), isFrozen };
}

interface FreezeOrder {
  readonly group: SandboxGroup;
  readonly generation: number;
  readonly frozen: boolean;
  readonly clock: Clock;
}

/** The control group stands still, or goes on. @throws ParleyError as `RuntimeFreezer` */
async function changeFrozen({ group, generation, frozen, clock }: FreezeOrder): Promise<void> {
  await setGroupFrozen(group, frozen);
  const isDone = await becomesTrue(
    clock,
    FREEZE_WAIT_MS,
    async () => (await isGroupFrozen(group)) === frozen,
  );
  if (isDone) return;
  // Half-frozen is neither: what cannot stand still goes on.
  if (frozen) await setGroupFrozen(group, false);
  const message = `Cannot ${frozen ? 'freeze' : 'thaw'} generation ${generation}: the kernel did not answer in time`;
  throw new ParleyError('runtime_unreachable', message);
}
