/**
 * The engine on Temporal as the owner of a data directory uses it: one connection, workers, and the post.
 * Owns what is opened in which order; loaded only when a deployment chooses it, because the packages are large.
 */
import { WorkflowClient, type DataConverter } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { activitiesOf } from '../../activities/registry.ts';
import { LOCAL_USER } from '../../activities/start-conversation.ts';
import { reportedActivities } from '../../activities/reported-activities.ts';
import { addressKey } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { steadyClock, systemClock } from '../../engine/system-clock.ts';
import type { WarmMeter } from '../../ports/warm-meter.ts';
import { openMeters } from '../../telemetry/meters.ts';
import { ensureFree, metricsTelemetry, metricsUrlOf } from '../../telemetry/metrics-endpoint.ts';
import { carrierActivities, type CarrierOptions } from '../../temporal/carrier.ts';
import { connectTemporal } from '../../temporal/connect.ts';
import { withWholeTexts } from '../../temporal/kept-texts.ts';
import { type LostEntities, LostSweeps } from '../../temporal/lost-entities.ts';
import type { EntityClient } from '../../temporal/entity-client.ts';
import { observed, observedTombstones } from '../../temporal/observe.ts';
import { scheduleActivities } from '../../temporal/schedules/schedule-activities.ts';
import { serverProblem } from '../../temporal/server-problem.ts';
import { tombstones, type Tombstones } from '../../temporal/tombstones.ts';
import type { AskedNamespace } from '../../temporal/versioning/builds.ts';
import { promoteFirst } from '../../temporal/versioning/promote.ts';
import { versionedWorkers, type WorkerVersion } from '../../temporal/versioning/worker-version.ts';
import { activityQueues, startWorkers, type Workers, type WorkersOptions } from '../../temporal/worker.ts';
import { openHostSpans } from '../host-spans.ts';
import { newRunId } from '../run-id.ts';
import type { EngineParts, HostEngine } from './host-engine.ts';
import { hostLookup } from './host-lease.ts';
import { entitiesOn } from './temporal-client.ts';
import { converterOf } from './temporal-codec.ts';
import { installRuntime } from './temporal-log.ts';
import { serverOf } from './temporal-server.ts';
import { findWorkflowBundle, type WorkflowBundle } from './workflow-bundle.ts';

/** A person who leaves a run waits for the end of the command; what is cut off begins again later. */
const COMMAND_GRACE_MS = 1_000;
/** A supervisor that queries whether a worker is ready gives up soon. */
const ANSWER_MS_MAX = 2_000;

/** @throws ParleyError engine_unreachable, engine_misconfigured, unauthorized, forbidden, config_invalid */
export async function openTemporalEngine(parts: EngineParts): Promise<HostEngine> {
  const { store, closers, onFailure } = parts;
  const { queue, eventsMax } = parts.config.engine.temporal;
  const bundle = findWorkflowBundle();
  const dataConverter = converterOf(parts, onFailure);
  const observers = await openObservers(parts);
  const server = await serverOf(parts);
  const { namespace } = server;
  const connection = await connectTemporal(server);
  closers.add(() => connection.close());
  const client = new WorkflowClient({ connection, namespace, dataConverter });
  const { entities, lost } = entitiesOn(client, {
    ...{ store, vault: parts.world.vault, queue, eventsMax },
    tombstones: observers.tombstones(tombstones(store.engine, systemClock)),
  });
  const version = versionOf(parts, bundle);
  const options = workersOptions(parts, {
    bundle,
    dataConverter,
    observers,
    connection,
    namespace,
    entities,
    version,
  });
  const { metricsUrl } = observers;
  return {
    facts: factsOf(parts, { address: server.address, namespace, metricsUrl, version, bundle }),
    warmMeter: observers.warmMeter,
    notices: entities.notices,
    requests: entities.requests,
    ...runningWorkers(parts, { options, version, address: server.address, lost }),
  };
}

interface WorkerParts {
  readonly bundle: WorkflowBundle;
  readonly dataConverter: DataConverter;
  readonly observers: TemporalObservers;
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly entities: EntityClient;
  readonly version: WorkerVersion | null;
}

function workersOptions(parts: EngineParts, given: WorkerParts): WorkersOptions {
  const { store, world, onRows, lease } = parts;
  const { bundle, dataConverter, observers, connection, namespace, entities, version } = given;
  const { queue, slots } = parts.config.engine.temporal;
  const told = { troubles: store.troubles, clock: systemClock };
  const carrier = observers.carrier({
    store: store.engine,
    send: (envelope) => entities.send(envelope),
    activities: reportedActivities(withWholeTexts(activitiesOf(world), world.vault), told),
    clock: systemClock,
    steadyClock: steadyClock(),
    onRows,
    hosts: hostLookup(lease, store),
    onOvertaken: (entity) => parts.onNotice(standsStill(addressKey(entity))),
  });
  const { plans, records } = store;
  const scheduled = scheduleActivities({
    plans,
    records,
    notices: entities.notices,
    deployment: world.deployment,
    userId: LOCAL_USER,
    newRunId,
  });
  return {
    connection,
    namespace,
    queue,
    activities: { ...carrierActivities(carrier), ...scheduled },
    bundlePath: bundle.path,
    slots,
    host: lease?.name,
    extra: {
      dataConverter,
      ...(version === null ? {} : versionedWorkers(version)),
      ...(parts.isWorker ? {} : { shutdownGraceTime: COMMAND_GRACE_MS }),
    },
  };
}

interface Known {
  readonly address: string;
  readonly namespace: string;
  readonly metricsUrl: string | null;
  readonly version: WorkerVersion | null;
  readonly bundle: WorkflowBundle;
}

function factsOf({ config, lease }: EngineParts, known: Known): HostEngine['facts'] {
  const { queue, slots } = config.engine.temporal;
  const { address, namespace, metricsUrl, version, bundle } = known;
  const queues = [queue, ...activityQueues(queue, lease?.name).map(({ taskQueue }) => taskQueue)];
  const buildId = version?.buildId ?? bundle.buildId;
  const worker = { queues, slots, buildId, deployment: version?.deployment ?? null, metricsUrl };
  return { kind: 'temporal', address, namespace, queue, worker };
}

interface Running {
  readonly lost: LostEntities;
  readonly options: WorkersOptions;
  readonly version: WorkerVersion | null;
  readonly address: string;
}

function runningWorkers(
  { leads, onFailure, onNotice }: EngineParts,
  { options, version, address, lost }: Running,
): Pick<HostEngine, 'start' | 'stop' | 'isReady'> {
  let workers: Workers | null = null;
  const sweeps = new LostSweeps(lost, { leads: () => leads('lost_workflows'), tell: onNotice });
  return {
    async start() {
      const refused = (error: unknown): never => {
        throw serverProblem({ address }, error);
      };
      workers = await startWorkers(options).catch(refused);
      workers.ended.catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        onFailure(new ParleyError('engine_unreachable', `Cannot go on: a worker has ended: ${reason}`));
      });
      if (version !== null) await takeWork(options, version, onNotice).catch(refused);
      sweeps.start();
    },
    isReady: async () => workers !== null && (await answers(options.connection)),
    async stop() {
      await sweeps.stop();
      // A worker that failed has reported it already.
      await workers?.stop().catch(() => undefined);
    },
  };
}

function standsStill(workflowId: string): string {
  return `${workflowId} stands still: its workflow was set back; see "parley temporal restored ${workflowId}"`;
}

async function answers(connection: NativeConnection): Promise<boolean> {
  const asking = connection.withDeadline(Date.now() + ANSWER_MS_MAX, () =>
    connection.workflowService.getSystemInfo({}),
  );
  return await asking.then(
    () => true,
    () => false,
  );
}

/** Null when workers have no versions; a server that lives for one command has no other build that takes over. */
function versionOf({ config }: Pick<EngineParts, 'config'>, bundle: WorkflowBundle): WorkerVersion | null {
  const { versioning, address } = config.engine.temporal;
  if (versioning === null || address === null) return null;
  return { deployment: versioning.deployment, buildId: versioning.buildId ?? bundle.buildId };
}

/**
 * To be called once the workers poll.
 * @throws ParleyError engine_misconfigured when the server does not register them, else the error of gRPC
 */
async function takeWork(
  at: AskedNamespace,
  version: WorkerVersion,
  onNotice: (text: string) => void,
): Promise<void> {
  if (await promoteFirst(at, version)) return;
  const { deployment, buildId } = version;
  onNotice(
    `build ${buildId} is not the current one of deployment ${deployment} and takes nothing new; ` +
      `to change that: parley temporal promote ${buildId}`,
  );
}

/** What observes a process that works on Temporal: its page of metrics, and the collector of its spans. */
interface TemporalObservers {
  /** Where the metrics are; null when they are not shown. */
  readonly metricsUrl: string | null;
  readonly warmMeter: WarmMeter;
  carrier(options: CarrierOptions): CarrierOptions;
  tombstones(tombstones: Tombstones): Tombstones;
}

type ObserverParts = Pick<EngineParts, 'config' | 'env' | 'closers' | 'onNotice'>;

/**
 * To be called before the first connection: it installs the runtime.
 * @throws ParleyError engine_misconfigured when the page cannot be shown, config_invalid
 */
async function openObservers(parts: ObserverParts): Promise<TemporalObservers> {
  const { config, onNotice } = parts;
  const { metrics } = config.engine.temporal;
  if (metrics !== null) await ensureFree(metrics);
  const spans = openHostSpans(parts);
  const meter = installRuntime({ onNotice, telemetry: metricsTelemetry(metrics) });
  const observers = { meters: openMeters(meter), spans };
  return {
    warmMeter: observers.meters.warm,
    metricsUrl: metrics === null ? null : metricsUrlOf(metrics),
    carrier: (options) => observed(options, observers),
    tombstones: (tombstones) => observedTombstones(tombstones, observers),
  };
}
