/**
 * Requests to the engine on Temporal from a process that does not own the data directory.
 * Owns the light connection; carries nothing out, and must not load the worker's package.
 */
import { Connection, WorkflowClient } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { systemClock } from '../../engine/system-clock.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { SecretVault } from '../../ports/secret-vault.ts';
import type { Store } from '../../store/open-store.ts';
import type { SealKey } from '../../store/access/seal-key.ts';
import { checkServer } from '../../temporal/check-server.ts';
import { keptTexts } from '../../temporal/kept-texts.ts';
import { LostEntities } from '../../temporal/lost-entities.ts';
import { EntityClient } from '../../temporal/entity-client.ts';
import { connectionOptions } from '../../temporal/server-address.ts';
import { ask, type ServerConnection } from '../../temporal/server-client.ts';
import { serverProblem } from '../../temporal/server-problem.ts';
import { tombstones, type Tombstones } from '../../temporal/tombstones.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { Environment } from '../config/effective-values.ts';
import type { Closers } from '../closers.ts';
import type { EngineNote } from './engine-note.ts';
import { converterOf } from './temporal-codec.ts';
import { namedServer } from './temporal-server.ts';

export interface ClientParts {
  readonly config: DeploymentConfig;
  readonly store: Store;
  readonly sealKey: SealKey;
  readonly env: Environment;
  readonly closers: Closers;
  readonly onFailure: (error: Error) => void;
  readonly onNotice: (text: string) => void;
}

/** @throws ParleyError engine_unreachable, engine_misconfigured, unauthorized, forbidden, config_invalid */
export async function openRequests(
  { onNotice, ...parts }: ClientParts,
  place: EngineNote & { readonly address: string },
): Promise<Notifier> {
  const { entities, isServed } = await openEntityClient(parts, place);
  parts.closers.add(watchForWorkers({ queue: place.queue, hasWorker: isServed, onNotice }));
  return entities.requests;
}

export type EnginePlace = Pick<EngineNote, 'namespace' | 'queue'> & { readonly address: string };

export interface OpenedPost {
  readonly entities: EntityClient;
  /** Whether a worker polls the queue. @throws the error of gRPC */
  isServed(): Promise<boolean>;
}

/** @throws as openRequests */
export async function openEntityClient(
  { config, store, sealKey, env, closers, onFailure }: Omit<ClientParts, 'onNotice'>,
  { namespace, queue, address }: EnginePlace,
): Promise<OpenedPost> {
  const settings = config.engine.temporal;
  const dataConverter = converterOf({ env, sealKey }, onFailure);
  const server = { ...namedServer(settings, address), namespace };
  await checkServer(server);
  const connection = await Connection.connect(connectionOptions(server)).catch((error: unknown) => {
    throw serverProblem(server, error);
  });
  closers.add(() => connection.close());
  const isServed = (): Promise<boolean> => hasWorker({ connection, namespace, queue });
  const client = new WorkflowClient({ connection, namespace, dataConverter });
  const { entities } = entitiesOn(client, {
    ...{ store, vault: store.vault(sealKey), queue, eventsMax: settings.eventsMax },
    tombstones: tombstones(store.engine, systemClock),
  });
  return { entities, isServed };
}

export interface EntityParts {
  readonly store: Pick<Store, 'records' | 'plans' | 'troubles' | 'engine'>;
  readonly vault: SecretVault;
  readonly queue: string;
  readonly eventsMax: number;
  readonly tombstones: Tombstones;
}

/** The entities that live on the server of the client; lost entities are searched for through them. */
export function entitiesOn(
  client: WorkflowClient,
  { store, vault, ...rest }: EntityParts,
): { readonly entities: EntityClient; readonly lost: LostEntities } {
  const { records, plans, troubles, engine } = store;
  const lost: LostEntities = new LostEntities({
    ...{ client, engine, records, plans, troubles, clock: systemClock },
    send: (envelope) => entities.send(envelope),
  });
  const entities = new EntityClient({
    ...{ client, ...rest, clock: systemClock, texts: keptTexts(vault) },
    lost: () => lost,
  });
  return { entities, lost };
}

/** A worker that has just started has polled by then, and a person still wonders. */
const FIRST_POLL_MS = 5_000;
const POLL_EVERY_MS = 15_000;
/** A worker polls anew each minute; the server lists one that has gone for some minutes more. */
const ASKED_WITHIN_MS = 75_000;

interface WorkerWatchOptions {
  /** Name of the queue of workflows. */
  readonly queue: string;
  readonly hasWorker: () => Promise<boolean>;
  readonly onNotice: (text: string) => void;
}

/** Says once for each time that there is no worker; returns what ends it. */
export function watchForWorkers({ queue, hasWorker, onNotice }: WorkerWatchOptions): () => void {
  let isMissing = false;
  let isOver = false;
  let timer = setTimeout(poll, FIRST_POLL_MS);
  function poll(): void {
    // A server that does not answer is a trouble of its own, and reported by the calls that need the answer.
    const looking = hasWorker().catch(() => !isMissing);
    void looking.then((has) => {
      if (isOver) return;
      if (!has && !isMissing) onNotice(missing(queue));
      isMissing = !has;
      timer = setTimeout(poll, POLL_EVERY_MS);
    });
  }
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

function missing(queue: string): string {
  return `nobody carries this out: no worker asks for work on the queue "${queue}"; start one with "parley worker"`;
}

interface AskedQueue {
  readonly connection: Pick<ServerConnection, 'workflowService' | 'withDeadline'>;
  readonly namespace: string;
  readonly queue: string;
}

/** @throws the error of gRPC */
export async function hasWorker({ connection, namespace, queue }: AskedQueue): Promise<boolean> {
  const { pollers } = await ask(connection, () =>
    connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: queue } }),
  );
  const since = Date.now() - ASKED_WITHIN_MS;
  return (pollers ?? []).some(({ lastAccessTime }) => tsToMs(lastAccessTime) > since);
}
