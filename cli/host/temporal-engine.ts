/**
 * The engine on Temporal as the owner of a data directory uses it: one connection, workers, and the post.
 * Owns what is opened in which order; loaded only when a deployment asks for it, because the packages are large.
 */
import { WorkflowClient } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { activitiesOf } from '../../activities/registry.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { systemClock } from '../../engine/system-clock.ts';
import { carrierActivities } from '../../temporal/carrier.ts';
import { connectTemporal } from '../../temporal/connect.ts';
import { Post } from '../../temporal/post.ts';
import { serverProblem } from '../../temporal/server-problem.ts';
import { tombstones } from '../../temporal/tombstones.ts';
import { startWorkers, type Workers, type WorkersOptions } from '../../temporal/worker.ts';
import { queueOf } from '../../workflows/carrier.ts';
import type { ResourceClass } from '../../core/resource.ts';
import type { EngineParts, HostEngine } from './host-engine.ts';
import { converterOf } from './temporal-codec.ts';
import { installRuntime } from './temporal-log.ts';
import { serverOf } from './temporal-server.ts';
import { findWorkflowBundle } from './workflow-bundle.ts';

/** A person who leaves a run waits for the end of the command; what is cut off begins again later. */
const COMMAND_GRACE_MS = 1_000;
/** A supervisor that asks whether a worker is ready gives up soon. */
const ANSWER_MS_MAX = 2_000;

/** @throws ParleyError engine_unreachable, engine_misconfigured, unauthorized, forbidden, config_invalid */
export async function openTemporalEngine(parts: EngineParts): Promise<HostEngine> {
  const { store, world, closers, onRows, onNotice, onFailure } = parts;
  const { queue, slots, eventsMax } = parts.config.engine.temporal;
  const bundle = findWorkflowBundle();
  const dataConverter = converterOf(parts.env, onFailure);
  installRuntime({ onNotice });
  const server = await serverOf(parts);
  const { address, namespace } = server;
  const connection = await connectTemporal(server);
  closers.add(() => connection.close());
  const client = new WorkflowClient({ connection, namespace, dataConverter });
  const clock = systemClock;
  const post = new Post({ client, queue, eventsMax, tombstones: tombstones(store.engine, clock), clock });
  const activities = carrierActivities({
    store: store.engine,
    send: (letter) => post.send(letter),
    activities: activitiesOf(world),
    clock,
    onRows,
  });
  const options: WorkersOptions = {
    connection,
    namespace,
    queue,
    activities,
    bundlePath: bundle.path,
    slots,
    extra: { dataConverter, ...(parts.isWorker ? {} : { shutdownGraceTime: COMMAND_GRACE_MS }) },
  };
  const running = runningWorkers(options, { address, onFailure });
  const classes = Object.keys(slots) as ResourceClass[];
  const queues = [queue, ...classes.map((resource) => queueOf(queue, resource))];
  return {
    facts: {
      kind: 'temporal',
      address,
      namespace,
      queue,
      worker: { queues, slots, buildId: bundle.buildId },
    },
    notices: post.notices,
    requests: post.requests,
    ...running,
  };
}

interface Failing {
  readonly address: string;
  readonly onFailure: (error: Error) => void;
}

function runningWorkers(
  options: WorkersOptions,
  { address, onFailure }: Failing,
): Pick<HostEngine, 'start' | 'stop' | 'isReady'> {
  let workers: Workers | null = null;
  return {
    async start() {
      workers = await startWorkers(options).catch((error: unknown) => {
        throw serverProblem({ address }, error);
      });
      workers.ended.catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        onFailure(new ParleyError('engine_unreachable', `Cannot go on: a worker has ended: ${reason}`));
      });
    },
    isReady: async () => workers !== null && (await answers(options.connection)),
    async stop() {
      // A worker that failed has told so already.
      await workers?.stop().catch(() => undefined);
    },
  };
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
