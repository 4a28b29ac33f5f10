/**
 * One engine at a time: a data directory with live sandboxes of one engine is not opened by the other, and a database
 * only with the seal key and the data directory that it was begun with.
 * Owns the checks and their messages; that a run stays on its engine is checked where events are sent to runs.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { Store } from '../../store/open-store.ts';
import type { SealKey } from '../../store/access/seal-key.ts';
import type { DeploymentConfig, EngineKind } from '../config/deployment-config.ts';
import { isHostBound } from '../sandboxes/hosted.ts';

/**
 * A file of SQLite lies beside its key and its archives; any process may name a database on a server. Pods are
 * reached from every host, so that processes of a cluster, which share no disk, have one database. So have hosts whose
 * archives and results are in a bucket: each keeps others from its sandboxes by its lease (D33).
 * @throws ParleyError engine_misconfigured
 */
export async function requireOwnInstallation(
  config: Pick<DeploymentConfig, 'engine' | 'store' | 'dataDir' | 'runtimeKind' | 'bucket'>,
  { installation }: Pick<Store, 'installation'>,
  sealKey: SealKey,
): Promise<void> {
  const { store, dataDir, runtimeKind, bucket } = config;
  if (store.kind !== 'postgres') return;
  const isShared = runtimeKind === 'kubernetes' || (isHostBound(config) && bucket !== null);
  await installation.claim({ sealKeyId: sealKey.id, dataDir: isShared ? null : dataDir });
}

/**
 * The same for an engine that has its database alone. Where archives and results are in a bucket, a data directory holds
 * nothing but sandboxes: without one that lives, another directory takes its place (D34).
 * @throws ParleyError engine_misconfigured
 */
export async function takeInstallation(
  config: Pick<DeploymentConfig, 'engine' | 'store' | 'dataDir' | 'runtimeKind' | 'bucket'>,
  { installation, search }: Pick<Store, 'installation' | 'search'>,
  sealKey: SealKey,
): Promise<void> {
  try {
    await requireOwnInstallation(config, { installation }, sealKey);
  } catch (error) {
    const isElsewhere = error instanceof ParleyError && 'data_directory' in error.details;
    if (!isElsewhere || config.bucket === null) throw error;
    const { embedded, elsewhere } = await search.liveSandboxes();
    if (embedded !== null || elsewhere !== null) throw error;
    await installation.move(config.dataDir);
  }
}

/** Conversations live in sandboxes, so a check of these covers both. @throws ParleyError engine_misconfigured */
export async function requireOwnSandboxes(
  { search }: Pick<Store, 'search'>,
  kind: EngineKind,
): Promise<void> {
  const { embedded, elsewhere } = await search.liveSandboxes();
  const foreign = kind === 'embedded' ? elsewhere : embedded;
  if (foreign === null) return;
  const begunOn: EngineKind = kind === 'embedded' ? 'temporal' : 'embedded';
  const message = `Cannot use the sandbox "${foreign}" on the engine "${kind}": it was begun on "${begunOn}"`;
  throw new ParleyError('engine_misconfigured', message, {
    remedy: `add --engine ${begunOn}, or set engine.kind to it; another data directory is free for "${kind}"`,
  });
}
