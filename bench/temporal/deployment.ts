/**
 * Parley on a server of Temporal: store, activities, workers and post.
 * Owns the wiring, as a host has it; what is asked of it is a part's business.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { ProjectionRow } from '../../core/machine/projection.ts';
import { systemClock } from '../../engine/system-clock.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { Store } from '../../store/open-store.ts';
import { carrierActivities } from '../../temporal/carrier.ts';
import { EntityClient } from '../../temporal/entity-client.ts';
import { heardStore } from '../../testing/temporal/engine-parts.ts';
import { tombstones } from '../../temporal/tombstones.ts';
import { startWorkers } from '../../temporal/worker.ts';
import { openWorld, type WorldOptions } from './bench-world.ts';
import { NAMESPACE, type Ground } from './ground.ts';
import { Milestones } from './milestones.ts';

/** The bundle that the product ships; benches run in the root of the repository. */
const BUNDLE = path.resolve('dist/workflows.bundle.js');
/** What is slow is counted, not given up: on a busy machine a request waits longer than the product lets it. */
const REQUEST_WAIT_MS = 600_000;
/** As a deployment has it when it says nothing. */
const EVENTS_MAX = 2_000;

export interface DeploymentOptions extends WorldOptions {
  /** After rows were written. */
  readonly onRows?: (rows: readonly ProjectionRow[]) => void;
}

export interface Deployment {
  readonly store: Store;
  readonly requests: Notifier;
  readonly milestones: Milestones;
  stop(): Promise<void>;
}

export async function deploy(
  { connection, client }: Ground,
  options: DeploymentOptions,
): Promise<Deployment> {
  const { clock = systemClock, onRows } = options;
  const late: { entities: EntityClient | null } = { entities: null };
  const notifier: Notifier = {
    deliver: (delivery) => late.entities?.notices.deliver(delivery) ?? Promise.reject(new Error('not yet')),
  };
  const { store, activities, close } = await openWorld(options, notifier);
  const queue = `bench-${randomBytes(4).toString('hex')}`;
  const milestones = new Milestones();
  const seen = heardStore(store.engine, (rows) => {
    milestones.see(rows);
    onRows?.(rows);
  });
  const entities = new EntityClient({
    client,
    queue,
    eventsMax: EVENTS_MAX,
    tombstones: tombstones(seen, clock),
    clock,
    requestWaitMs: REQUEST_WAIT_MS,
  });
  late.entities = entities;
  const workers = await startWorkers({
    connection,
    namespace: NAMESPACE,
    queue,
    bundlePath: BUNDLE,
    activities: carrierActivities({
      store: seen,
      send: (envelope) => entities.send(envelope),
      activities,
      clock,
      onError: ({ type }, { message }) => void process.stderr.write(`${type}: ${message}\n`),
    }),
    // Looks that wait for nothing are cut off at the end of a part.
    extra: { shutdownGraceTime: 100 },
  });
  return {
    store,
    requests: entities.requests,
    milestones,
    async stop() {
      await workers.stop();
      await close();
    },
  };
}
