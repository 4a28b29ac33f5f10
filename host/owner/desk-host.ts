/**
 * Reports and late collecting by a process that owns nothing: where records are on a server and files in a bucket, neither
 * needs an engine, a sandbox or the data directory in which the work was done (D34).
 * Owns when that is so; must not start or claim anything.
 */
import { collectNow } from '../../activities/collect-now.ts';
import { reportNow } from '../../activities/report-run.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { deployedFiles } from '../deployed-files.ts';
import { openDeployedStore } from '../follow/config-store.ts';
import type { RunDesk } from '../host-port.ts';
import type { Closers } from '../closers.ts';
import { placesOf } from '../sandboxes/places.ts';
import { wireWorld } from '../wired-world.ts';
import { readerOf, sealKeyToRead } from './reader.ts';

/** A file of SQLite lies in the data directory, and a process that has that may own it. */
export function isDeskEnough({ bucket, store }: Pick<DeploymentConfig, 'bucket' | 'store'>): boolean {
  return bucket !== null && store.kind === 'postgres';
}

/** @throws ParleyError store_unavailable, config_invalid without the seal key, engine_misconfigured with another one */
export async function openDeskHost(config: DeploymentConfig, closers: Closers): Promise<RunDesk> {
  const sealKey = await sealKeyToRead(config, 'open what runs keep');
  const store = await openDeployedStore(config);
  closers.add(() => store.close());
  await store.installation.claim({ sealKeyId: sealKey.id, dataDir: null });
  const files = deployedFiles(config);
  closers.add(() => files.close());
  await files.check();
  const { world, agent } = wireWorld({
    ...{ config, store, files, sealKey, env: process.env },
    // What it would say is about sandboxes, and there will be none.
    warn: () => undefined,
    places: placesOf(config.dataDir),
    notifier: { deliver: () => Promise.reject(nothingHere()) },
  });
  closers.add(() => agent.close());
  return {
    ...readerOf(store, config, files),
    report: (runId) => reportNow(world, runId),
    collect: (runId) => collectNow(world, runId),
    close: () => closers.run(),
  };
}

function nothingHere(): ParleyError {
  return new ParleyError('engine_unreachable', 'Cannot deliver the event: no engine runs in this process');
}
