/**
 * Sandboxes as pods of a cluster, each with a volume of its own.
 * Owns the port's operations over pods and volumes; every answer is read from the cluster, so a restart of ours loses
 * nothing, and several processes may share a namespace. A pause removes the pod and keeps the volume: a cluster has no
 * other. Must not hold a rule about lifecycles.
 */
import type { SandboxId } from '../../core/ids.ts';
import { ParleyError, asParleyError } from '../../core/parley-error.ts';
import type {
  RuntimeCapabilities,
  RuntimePresence,
  SandboxLimits,
  SandboxRuntime,
} from '../../ports/sandbox-runtime.ts';
import { guardedOperations } from '../on-host/guard/guarded.ts';
import { DEFAULT_LIMITS } from '../on-host/limits.ts';
import { overtakenOrder } from '../on-host/order-refusals.ts';
import { createSandboxTurns, type SandboxTurns } from '../on-host/sandbox-turns.ts';
import { addressOf } from './agent-address.ts';
import { kubernetesCluster } from './cluster.ts';
import { endIncarnation, removeSandbox } from './end-sandbox.ts';
import { exportVolume } from './export-workspace.ts';
import { readLastWords } from './last-words.ts';
import { CONFLICTS_MAX } from './limits.ts';
import { checkInstallation, podName } from './names.ts';
import { ensurePolicy } from './network-policy.ts';
import type { KubernetesRuntimeOptions, PodRoutes } from './options.ts';
import { openGates, resolveRoutes } from './pod-routes.ts';
import type { PodState } from './pod-state.ts';
import { createPodWatch } from './pod-watch.ts';
import { toolsUserOf } from './pod-spec.ts';
import { findPod, listPods, type Pods, listSecrets, removePods, removeSecrets } from './pods.ts';
import { startSandbox } from './start-sandbox.ts';
import { listRecords, readRecord, settleRecord, type VolumeRecord } from './volume-record.ts';

interface Context {
  readonly options: KubernetesRuntimeOptions;
  readonly limits: SandboxLimits;
  readonly pods: Pods;
  readonly turns: SandboxTurns;
  /** The ways that lead from pods to this process are open, where it serves them. */
  readonly openWays: () => Promise<void>;
  readonly prepare: () => Promise<PodRoutes>;
}

type Target = Parameters<SandboxRuntime['stop']>[0];

/**
 * Sends the cluster nothing before the first call.
 * @throws ParleyError runtime_failed: the installation's name cannot be part of a name
 */
export function createKubernetesRuntime(options: KubernetesRuntimeOptions): SandboxRuntime {
  const { installation } = options;
  checkInstallation(installation);
  const cluster = kubernetesCluster(options);
  const pods: Pods = { cluster, installation, watch: createPodWatch(cluster, installation) };
  const openWays = once(async () => {
    if (options.gates !== null) await openGates(options.gates);
  });
  const context: Context = {
    options,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    pods,
    turns: createSandboxTurns(),
    openWays,
    prepare: preparation({ options, pods, openWays }),
  };
  return {
    capabilities: capabilitiesOf(options),
    openWays,
    ...guardedOperations({
      removeLeftovers: () => removeLeftovers(pods),
      start: (request) => start(context, request),
      stop: (target) => stop(context, target),
      destroy: (id) => destroy(context, id),
      inspect: (id) => inspect(context, id),
      list: () => list(context),
      exportWorkspace: (id) => exportWorkspace(context, id),
    }),
  };
}

function capabilitiesOf(options: KubernetesRuntimeOptions): RuntimeCapabilities {
  return {
    kind: 'kubernetes',
    isolation: 'container',
    tools: toolsUserOf(options) === null ? 'beside' : 'apart',
    pause: ['files'],
    resume: { files: 'boot', memory: null },
    egress: options.routes.egress === null ? 'none' : 'allow_list',
    limits: {
      memory: 'sandbox',
      // How many processes a pod may have is set on the nodes, not in a pod.
      processes: 'none',
      cpu: 'sandbox',
      fileSize: 'process',
      workspace: 'sandbox',
    },
    export: 'always',
    survivesRestart: true,
  };
}

/** Before a start. */
function preparation({
  options: { routes },
  pods: { cluster, installation },
  openWays,
}: Pick<Context, 'options' | 'pods' | 'openWays'>): Context['prepare'] {
  const closeNetwork = once(() => ensurePolicy({ cluster, installation, routes }));
  return async () => {
    await openWays();
    await closeNetwork();
    return await resolveRoutes(routes);
  };
}

/** Once for a process; what failed is tried again by the next caller. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return async () => {
    try {
      await (done ??= work());
    } catch (error) {
      done = null;
      throw error;
    }
  };
}

const start = (
  context: Context,
  request: Parameters<SandboxRuntime['start']>[0],
): ReturnType<SandboxRuntime['start']> =>
  context.turns.start({ id: request.sandboxId, generation: request.generation }, async (overtaken) => {
    const { options, limits, pods, turns, prepare } = context;
    const endedGeneration = turns.endedGeneration(request.sandboxId);
    return await startSandbox({ options, limits, pods, prepare, request, endedGeneration, overtaken });
  });

async function stop(context: Context, target: Target): Promise<void> {
  const { sandboxId: id, generation } = target;
  await context.turns.end({ id, generation }, async () => {
    const record = await settleRecord(context.pods, id, (found) => {
      if (found.generation > generation) throw overtakenOrder('stop', target, found.generation);
      const isStopped = found.desired !== 'up' && found.generation === generation;
      return isStopped || found.desired === 'destroyed' ? null : { generation, desired: 'stopped' };
    });
    context.turns.rememberEnded({ id, generation });
    if (record !== null && record.desired !== 'destroyed') await endIncarnation(context.pods, id, generation);
  });
}

async function destroy(context: Context, id: SandboxId): Promise<void> {
  await context.turns.end({ id, generation: Number.MAX_SAFE_INTEGER }, async () => {
    const generation = await removeSandbox(context.pods, id);
    if (generation > 0) context.turns.rememberEnded({ id, generation });
  });
}

async function inspect(context: Context, id: SandboxId): Promise<RuntimePresence> {
  try {
    const record = await readRecord(context.pods, id);
    if (record === null || record.desired === 'destroyed') return { kind: 'gone' };
    const { generation, desired, endedFor } = record;
    const pod = await findPod(context.pods, podName(context.options.installation, id, generation));
    const status = pod?.status;
    if (status?.kind === 'running') {
      const address = addressOf(status.address, { sandboxId: id, generation });
      return { kind: 'up', generation, address };
    }
    if (status?.kind === 'lost') return { kind: 'unknown', reason: status.reason };
    if (status?.kind === 'ending') return { kind: 'unknown', reason: 'its pod is being removed' };
    if (desired === 'stopped') return { kind: 'stopped', generation };
    // A node may be found and an image may come; between volume and pod nothing can be said yet.
    const isComing = status?.kind === 'pending' && !status.isFinal;
    if (isComing || (status?.kind !== 'ended' && context.turns.isStarting(id))) {
      return { kind: 'unknown', reason: 'its pod is being made' };
    }
    // A drained node or an operator that removes a pod leaves the volume as it is: that is a stop, and no crash.
    if (pod === null && endedFor === null) return { kind: 'stopped', generation, isEvicted: true };
    const { cause, words } = await readLastWords(context.pods, { endedFor, pod });
    return { kind: 'crashed', generation, reason: words, cause };
  } catch (error) {
    return { kind: 'unknown', reason: asParleyError(error).message };
  }
}

async function list(context: Context): ReturnType<SandboxRuntime['list']> {
  const records = await listRecords(context.pods);
  const running = (await listPods(context.pods)).filter(({ status }) => status.kind === 'running');
  // Pods outlive the process that made them: they call its successor, which lists first and starts perhaps nothing.
  if (running.length > 0) await context.openWays();
  const up = new Set(running.map(({ name }) => name));
  const { installation } = context.options;
  return records.map(({ sandboxId, generation }) => ({
    sandboxId,
    generation,
    up: up.has(podName(installation, sandboxId, generation)),
  }));
}

async function* exportWorkspace(context: Context, id: SandboxId): AsyncGenerator<Uint8Array> {
  const { options, pods } = context;
  const record = await readRecord(pods, id);
  if (record === null || record.desired === 'destroyed') {
    throw new ParleyError('runtime_gone', `Cannot export sandbox "${id}": there is no such sandbox`);
  }
  yield* exportVolume({ options, pods, record });
}

/** One line for each thing that was removed. */
async function removeLeftovers(pods: Pods): Promise<readonly string[]> {
  // Before the volumes: whatever is being made now has its volume already.
  const secrets = await listSecrets(pods);
  const listed = await listPods(pods);
  const records = new Map((await listRecords(pods)).map((record) => [record.sandboxId, record]));
  const orphans = listed.filter((pod) => isOrphan(pod, records));
  await removePods(pods, orphans.slice(0, SWEEP_MAX));
  // A start that is under way has its secret before its pod, so only one that no volume names is an orphan.
  const podNames = new Set(listed.map(({ name }) => name));
  const wanted = new Set([...records.values()].map(({ name, generation }) => `${name}-${generation}`));
  const unowned = secrets.filter((name) => !podNames.has(name) && !wanted.has(name));
  await removeSecrets(pods, unowned);
  return [
    ...orphans.slice(0, SWEEP_MAX).map(({ name }) => `pod ${name}`),
    ...unowned.map((name) => `secret ${name}`),
  ];
}

/** Removals of one sweep; the next one goes on. */
const SWEEP_MAX = CONFLICTS_MAX * 10;

function isOrphan({ marks, status }: PodState, records: ReadonlyMap<string, VolumeRecord>): boolean {
  if (marks === null) return false;
  const record = records.get(marks.sandboxId);
  if (record === undefined) return true;
  // A reader at work ends by itself.
  if (marks.role === 'reader') return status.kind === 'ended';
  // An older one is the rest of a start that was cut off; a newer one cannot be: its record comes first.
  return marks.generation < record.generation;
}
