/**
 * Two and more builds of the workers side by side: one store, one task queue, each build with workers and fakes of its own.
 * Owns the wiring; must not assert.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { WorkflowClient } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../engine/system-clock.ts';
import type { Store } from '../../../store/open-store.ts';
import { carrierActivities } from '../../../temporal/carrier.ts';
import { EntityClient } from '../../../temporal/entity-client.ts';
import { tombstones } from '../../../temporal/tombstones.ts';
import {
  buildIdOf,
  versionedWorkers,
  type WorkerVersion,
} from '../../../temporal/versioning/worker-version.ts';
import { startWorkers, type Workers } from '../../../temporal/worker.ts';
import { newStore } from '../../engine/engine-harness.ts';
import type { FakeActivities, Overrides } from '../../engine/fake-activities.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { BUNDLE } from './deployment.ts';
import { watchingFakes, type Looks } from './watching-fakes.ts';

/** A bundle as the next release would have it: its bytes differ. */
export function bundleOf(release: string): { readonly path: string; readonly buildId: string } {
  const code = `/* ${release} */${readFileSync(BUNDLE, 'utf8')}`;
  const file = path.join(tempDir(), 'workflows.bundle.js');
  writeFileSync(file, code);
  const bundleHash = createHash('sha256').update(code).digest('hex');
  return { path: file, buildId: buildIdOf({ program: release, bundleHash }) };
}

export interface BuiltWorkers extends FakeActivities {
  readonly version: WorkerVersion;
  stop(): Promise<void>;
}

/** What the workers of a build do in the place of the world. */
export interface Behaviour {
  readonly activities?: Overrides;
  readonly polls?: Looks;
}

export interface Cluster {
  /** Name of the deployment, and prefix of its queues. */
  readonly deployment: string;
  readonly store: Store;
  readonly connection: NativeConnection;
  readonly client: WorkflowClient;
  readonly entities: EntityClient;
  /** Workers of one release of the program begin to ask for work. */
  startBuild(release: string, behaviour?: Behaviour): Promise<BuiltWorkers>;
}

export async function openCluster(address: string): Promise<Cluster> {
  const store = await newStore();
  const clock = systemClock;
  const connection = await NativeConnection.connect({ address });
  const client = new WorkflowClient({ connection });
  const queue = `parley-${randomBytes(6).toString('hex')}`;
  const deployment = queue;
  const entities = new EntityClient({
    client,
    queue,
    eventsMax: 2_000,
    tombstones: tombstones(store.engine, clock),
    clock,
  });
  const begun = new Set<Workers>();
  onTestFinished(async () => {
    await Promise.all([...begun].map((workers) => workers.stop()));
    await connection.close();
  });
  return {
    deployment,
    store,
    connection,
    client,
    entities,
    async startBuild(release, { activities, polls: polls } = {}) {
      const bundle = bundleOf(release);
      const version = { deployment, buildId: bundle.buildId };
      const fakes = watchingFakes(clock, activities, polls);
      const workers = await startWorkers({
        connection,
        namespace: 'default',
        queue,
        activities: carrierActivities({
          store: store.engine,
          send: (envelope) => entities.send(envelope),
          activities: fakes.activities,
          clock,
        }),
        bundlePath: bundle.path,
        extra: { shutdownGraceTime: 100, ...versionedWorkers(version) },
      });
      begun.add(workers);
      const stop = async (): Promise<void> => {
        begun.delete(workers);
        await workers.stop();
      };
      return { ...fakes, version, stop };
    },
  };
}
