/**
 * The workers of one process: one for workflows and their brief batches, one per resource class for what is long.
 * Owns queues, slots and the order of starting and stopping; the connection belongs to the caller.
 */
import { Worker, type NativeConnection, type WorkerOptions } from '@temporalio/worker';
import type { ResourceClass } from '../core/machine/resource.ts';
import { queueOf, type CarrierActivities } from '../workflows/carrier.ts';

/** How much of each class one process carries out at once. */
export type WorkerSlots = Readonly<Record<ResourceClass, number>>;

/** Boots are heavy; agent traffic and polls are mostly waiting. */
export const WORKER_SLOTS_DEFAULT: WorkerSlots = { sandbox: 8, agent: 64, bookkeeping: 16, watch: 64 };

/** Workflow tasks at once: there is one thread for workflows, more of them only wait in it. */
const WORKFLOW_TASKS = 40;
/** Workflows kept in memory, about 1 MB each; an evicted one is replayed when it is needed. */
const CACHED_WORKFLOWS = 400;
/** Activities that run may end by themselves for so long; what is cut off begins again elsewhere. */
const SHUTDOWN_GRACE_MS = 10_000;
/**
 * How long one activation may take. The SDK cuts it off in the middle by time alone, after five seconds by default, and a
 * thread that was cut off within a promise brings the process down (temporalio/sdk-typescript#939): a container that was
 * frozen, or a machine that was suspended, is no endless loop. What loops for real ends at last.
 */
const ACTIVATION_MS = 600_000;
/** A cancellation reaches an activity with its next heartbeat: this is how late that may be. */
const HEARTBEAT_THROTTLE_MS = 2_000;

/** What workers serve, and how much at once. */
export interface WorkersOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** Prefix of all queues; the workflows' own queue bears it alone. */
  readonly queue: string;
  readonly activities: CarrierActivities;
  /** Absolute path of the prebuilt bundle of workflows/. */
  readonly bundlePath: string;
  readonly slots?: WorkerSlots;
  /** Name of the host whose sandboxes only this process reaches; absent: sandboxes are bound to none. */
  readonly host?: string | undefined;
  /** Interceptors, sinks, data converter, versioning: whatever a deployment adds. */
  readonly extra?: Partial<WorkerOptions>;
}

/** The workers of this process, one for each queue. */
export interface Workers {
  /** Resolves when all have ended; rejects when one of them failed. */
  readonly ended: Promise<void>;
  /** Takes nothing new, lets what runs end for a while. */
  stop(): Promise<void>;
}

/** Starts polling at once. */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const workers = await Promise.all([workflowWorker(options), ...activityWorkers(options)]);
  const ended = Promise.all(workers.map((worker) => worker.run())).then(() => undefined);
  // `ended` and `stop` report a failure to their caller; until then it must not count as an unhandled rejection.
  ended.catch(() => undefined);
  return {
    ended,
    async stop() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended;
    },
  };
}

function workflowWorker(options: WorkersOptions): Promise<Worker> {
  const settings = {
    ...common(options),
    taskQueue: options.queue,
    workflowBundle: { codePath: options.bundlePath },
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
    maxCachedWorkflows: CACHED_WORKFLOWS,
    // Read by the SDK, and not in the types of its options: "not exposed at the moment".
    isolateExecutionTimeout: ACTIVATION_MS,
  };
  return Worker.create(settings);
}

function activityWorkers(options: WorkersOptions): readonly Promise<Worker>[] {
  const slots = options.slots ?? WORKER_SLOTS_DEFAULT;
  return activityQueues(options.queue, options.host).map(({ taskQueue, resource, isOfHost }) =>
    Worker.create({
      ...(isOfHost ? unversioned(common(options)) : common(options)),
      taskQueue,
      maxConcurrentActivityTaskExecutions: slots[resource],
    }),
  );
}

/**
 * The shared queue of each class, and that of the host for each that reaches into sandboxes. The shared ones stay: in
 * them is what concerns a sandbox that is bound to no host.
 */
export function activityQueues(
  queue: string,
  host: string | undefined,
): readonly { readonly taskQueue: string; readonly resource: ResourceClass; readonly isOfHost: boolean }[] {
  const classes = Object.keys(WORKER_SLOTS_DEFAULT) as ResourceClass[];
  const shared = classes.map((resource) => ({
    ...{ taskQueue: queueOf(queue, resource), resource, isOfHost: false },
  }));
  if (host === undefined) return shared;
  const ofHost = classes.filter((resource) => resource !== 'bookkeeping');
  return [
    ...shared,
    ...ofHost.map((resource) => ({
      ...{ taskQueue: queueOf(queue, resource, host), resource, isOfHost: true },
    })),
  ];
}

/**
 * The queues of a host belong to no build. Whatever build a workflow is of, its sandbox is reached through the one worker
 * of its host; and a build that has workers on one host of several could not become the current one, since it would lack
 * the queues of the others.
 */
function unversioned({
  workerDeploymentOptions: _,
  ...options
}: Omit<WorkerOptions, 'taskQueue'>): Omit<WorkerOptions, 'taskQueue'> {
  return options;
}

function common({
  connection,
  namespace,
  activities,
  extra,
}: WorkersOptions): Omit<WorkerOptions, 'taskQueue'> {
  return {
    connection,
    namespace,
    activities,
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    defaultHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    ...extra,
  };
}
