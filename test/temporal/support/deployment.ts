/**
 * A deployment on a Temporal server for tests: a store, fake activities, a post, and workers that come and go.
 * Owns the wiring, as a worker process has it; must not assert.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { WorkflowClient, type DataConverter } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { onTestFinished } from 'vitest';
import type { ActivityCommand } from '../../../core/machine/command.ts';
import type { ParleyError } from '../../../core/parley-error.ts';
import { systemClock } from '../../../engine/system-clock.ts';
import type { EngineStore } from '../../../ports/engine-store.ts';
import type { Store } from '../../../store/open-store.ts';
import { SEAL_KEY_BYTES, sealKey } from '../../../store/access/seal-key.ts';
import { carrierActivities, type CarrierOptions } from '../../../temporal/carrier.ts';
import type { SteadyClock } from '../../../temporal/clock-reading.ts';
import { keptTexts, withWholeTexts } from '../../../temporal/kept-texts.ts';
import { LostEntities } from '../../../temporal/lost-entities.ts';
import { EntityClient } from '../../../temporal/entity-client.ts';
import { observed } from '../../../temporal/observe.ts';
import type { Observers } from '../../../telemetry/observers.ts';
import { tombstones } from '../../../temporal/tombstones.ts';
import { startWorkers, type Workers, type WorkerSlots } from '../../../temporal/worker.ts';
import type { AddressedEnvelope } from '../../../workflows/envelope.ts';
import type { ScheduleActivities } from '../../../workflows/scheduled-run.ts';
import { newStore } from '../../engine/engine-harness.ts';
import type { FakeActivities, Overrides } from '../../engine/fake-activities.ts';
import { watchingFakes, type Looks } from './watching-fakes.ts';

export const BUNDLE = path.resolve(import.meta.dirname, '../../../dist/workflows.bundle.js');
/** What a deployment has by default: nothing is continued as new in a test that is not about it. */
const EVENTS_MAX = 2_000;
/** A caller that waits for an answer that never comes learns it soon. */
const REQUEST_WAIT_MS = 15_000;
/** By default it would name process and machine, in every history. */
const IDENTITY = 'parley-test';

const SEAL_KEY = sealKey(new Uint8Array(SEAL_KEY_BYTES).fill(1));

export interface DeploymentOptions {
  readonly address: string;
  readonly store?: Store;
  readonly activities?: Overrides;
  readonly polls?: Looks;
  readonly eventsMax?: number;
  readonly dataConverter?: DataConverter;
  readonly bundlePath?: string;
  readonly slots?: WorkerSlots;
  readonly requestWaitMs?: number;
  /** What its workers compare the server's clock with; absent: they do not compare. */
  readonly steadyClock?: SteadyClock;
  /** What its workers do for schedules; absent: nothing. */
  readonly scheduled?: ScheduleActivities;
  /** Observers of what its workers carry out. */
  readonly observers?: Observers;
}

export interface Failure {
  readonly command: ActivityCommand;
  readonly error: ParleyError;
  readonly attempt: number;
}

export interface Deployment extends FakeActivities {
  readonly queue: string;
  readonly store: Store;
  readonly client: WorkflowClient;
  readonly entities: EntityClient;
  readonly lost: LostEntities;
  /** Every failed try. */
  readonly failures: Failure[];
  /** Every envelope that a workflow had sent. */
  readonly sent: AddressedEnvelope[];
  startWorkers(): Promise<Workers>;
  /** Ends its workers and its connection; those left at the end of the running test are ended then. */
  stop(): Promise<void>;
}

/** Begins with workers; everything is gone when the running test ends. */
export async function deploy(options: DeploymentOptions): Promise<Deployment> {
  const deployment = await wire(options);
  await deployment.startWorkers();
  return deployment;
}

/** The same without a worker. */
export async function wire(options: DeploymentOptions): Promise<Deployment> {
  const { address, eventsMax = EVENTS_MAX, dataConverter, bundlePath = BUNDLE, slots } = options;
  const store = options.store ?? (await newStore());
  const connection = await NativeConnection.connect({ address });
  const converter = dataConverter === undefined ? {} : { dataConverter };
  const client = new WorkflowClient({ connection, identity: IDENTITY, ...converter });
  const queue = `parley-${randomBytes(6).toString('hex')}`;
  const clock = systemClock;
  const stones = tombstones(store.engine, clock);
  const vault = store.vault(SEAL_KEY);
  const { requestWaitMs = REQUEST_WAIT_MS } = options;
  const lost = lostIn({ client, store, send: (envelope) => entities.send(envelope) });
  const own = { tombstones: stones, texts: keptTexts(vault), lost: () => lost };
  const entities: EntityClient = new EntityClient({ client, queue, eventsMax, clock, requestWaitMs, ...own });
  const fakes = watchingFakes(clock, options.activities, options.polls);
  const failures: Failure[] = [];
  const sent: AddressedEnvelope[] = [];
  const carrier: CarrierOptions = {
    store: store.engine satisfies EngineStore,
    send: (envelope) => {
      sent.push(envelope);
      return entities.send(envelope);
    },
    activities: withWholeTexts(fakes.activities, vault),
    clock,
    ...(options.steadyClock === undefined ? {} : { steadyClock: options.steadyClock }),
    onError: (command, error, attempt) => void failures.push({ command, error, attempt }),
  };
  const activities = { ...carrierActivities(watched(carrier, options)), ...options.scheduled };
  const begun: Workers[] = [];
  const deployment: Deployment = {
    ...fakes,
    queue,
    store,
    client,
    entities,
    failures,
    lost,
    sent,
    async startWorkers() {
      const workers = await startWorkers({
        connection,
        namespace: 'default',
        queue,
        activities,
        bundlePath,
        ...(slots === undefined ? {} : { slots }),
        extra: { ...converter, identity: IDENTITY, shutdownGraceTime: 100 },
      });
      begun.push(workers);
      return workers;
    },
    async stop() {
      await Promise.all(begun.splice(0).map((workers) => workers.stop()));
      await connection.close();
    },
  };
  let stopped = false;
  onTestFinished(async () => {
    if (!stopped) await deployment.stop();
  });
  return {
    ...deployment,
    stop: async () => {
      stopped = true;
      await deployment.stop();
    },
  };
}

function lostIn({
  client,
  store: { engine, records, plans, troubles },
  send,
}: Pick<Deployment, 'client' | 'store'> & Pick<CarrierOptions, 'send'>): LostEntities {
  return new LostEntities({ client, engine, records, plans, troubles, clock: systemClock, send });
}

function watched(carrier: CarrierOptions, { observers }: DeploymentOptions): CarrierOptions {
  return observers === undefined ? carrier : observed(carrier, observers);
}
