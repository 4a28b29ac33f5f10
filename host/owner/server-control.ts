/**
 * Sends an event to a run on Temporal while no process owns its data directory: this process calls the server itself.
 * Owns which runs can be reached so, and whether a worker took it or the server keeps it; carries nothing out.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../../store/open-store.ts';
import { loadSealKey } from '../../store/access/seal-key.ts';
import type { EntityClient } from '../../temporal/entity-client.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { ControlRequest, ServerAnswer } from '../host-port.ts';
import { Closers } from '../closers.ts';
import { openDeployedStore } from '../follow/config-store.ts';
import { placesOf } from '../sandboxes/places.ts';

/** A worker that is there takes a request in milliseconds; a person does not wait longer for none. */
const WORKER_MS_MAX = 3_000;

/** @throws as HostPort.controlByServer says */
export async function tellByServer(
  config: DeploymentConfig,
  request: ControlRequest,
): Promise<ServerAnswer | null> {
  const { address, namespace, queue } = config.engine.temporal;
  // A server that a run started for itself has ended with it.
  if (config.engine.kind !== 'temporal' || address === null) return null;
  const closers = new Closers();
  try {
    const store = await openDeployedStore(config);
    closers.add(() => store.close());
    if (!(await isOpenOnTemporal(store, request))) return null;
    const { openEntityClient } = await import('../engines/temporal-client.ts');
    const failure: { error: Error | null } = { error: null };
    const onFailure = (error: Error): void => void (failure.error ??= error);
    const { env } = process;
    const sealKey = loadSealKey({ env: env['PARLEY_SEAL_KEY'], path: placesOf(config.dataDir).sealKeyFile });
    const parts = { config, store, sealKey, env, closers, onFailure };
    const { entities } = await openEntityClient(parts, { address, namespace, queue });
    const answer = await tell(entities, request);
    if (failure.error !== null) throw failure.error;
    return answer;
  } finally {
    await closers.run();
  }
}

/**
 * A request is answered by a worker, a notice is durable without one. Both have the same id, so that a worker that comes
 * between the two counts one of them.
 */
async function tell(entities: EntityClient, { runId, event }: ControlRequest): Promise<ServerAnswer> {
  const delivery = { to: { machine: 'run', id: runId }, event } as const;
  const asking = entities.requests.deliver(delivery);
  const isTaken = await Promise.race([asking.then(() => true), pause(WORKER_MS_MAX, false)]);
  if (isTaken) return 'taken';
  // Its result does not matter when it is no longer waited for.
  asking.catch(() => undefined);
  await entities.notices.deliver(delivery);
  return 'kept';
}

/** A run of the embedded engine is in the store from its first moment, one on Temporal when it has ended. */
async function isOpenOnTemporal({ records, engine }: Store, { runId }: ControlRequest): Promise<boolean> {
  if ((await records.run(runId)) === null) return false;
  const stored = await engine.load({ machine: 'run', id: runId });
  return stored === null || stored.done;
}
