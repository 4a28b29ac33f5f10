/**
 * The host that owns a data directory: lock, store, engine, proxy, callbacks and Git relay of one process.
 * Owns the order in which they start and end; which engine it is makes no difference here.
 */
import { startControlServer } from '../../api/control-server.ts';
import type { World } from '../../activities/world.ts';
import type { HostLease } from '../../ports/host-leases.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { WarmMeter } from '../../ports/warm-meter.ts';
import { lockDataDirectory } from '../../store/engine/data-directory-lock.ts';
import { systemClock } from '../../engine/system-clock.ts';
import { loadSealKey, type SealKey } from '../../store/access/seal-key.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { deployedFiles } from '../deployed-files.ts';
import type { Host, HostOptions } from '../host-port.ts';
import type { Closers } from '../closers.ts';
import { openEngineStore } from '../follow/config-store.ts';
import { openEndpoints } from '../proxy/endpoints.ts';
import { leadsOf, peerOf, proxyLog } from '../proxy/peer-of.ts';
import { removeEngineNote } from '../engines/engine-note.ts';
import { isService, openFollowedFile, openFollowedVersion } from '../follow/followed-file.ts';
import { hostLookup, serveHost, takeHostLease } from '../engines/host-lease.ts';
import type { EngineParts, HostEngine } from '../engines/host-engine.ts';
import { hostLife, type HostLife } from '../host-life.ts';
import { hostOf } from '../host-of.ts';
import { requireOwnInstallation, requireOwnSandboxes, takeInstallation } from '../engines/engine-guard.ts';
import { isHostBound } from '../sandboxes/hosted.ts';
import { lateWarmMeter } from '../sandboxes/measured-warm-pool.ts';
import { ownerDesk } from './owner-desk.ts';
import { placesOf, type Places } from '../sandboxes/places.ts';
import { createRunWatch } from '../run-watch.ts';
import { requireRuntimeClient } from '../sandboxes/runtime-of.ts';
import { openServed } from './served.ts';
import { startSweeper } from '../sandboxes/sweeper.ts';
import { serveRelay } from '../sandboxes/served-relay.ts';
import { troubledRows } from '../troubled-rows.ts';
import { startWarmKeeper } from '../sandboxes/warm-keeper.ts';
import { hostKeyOf, wireWorld } from '../wired-world.ts';

/** Kept for later queries; a service lives for months. */
const WARNINGS_MAX = 100;

/** A backup that was brought back on purpose is older, too. */
const OLDER_DATABASE =
  'The database is older than what the latest engine of this data directory stored: an earlier copy is in use, or its log (parley.db-wal) was lost; what was stored since is missing: docs/store.md, "Backups", says what to do';

/** What is opened is left to `closers`, also when it throws. @throws as HostPort.openHost */
export async function openOwnerHost(
  config: DeploymentConfig,
  options: HostOptions,
  closers: Closers,
): Promise<Host> {
  await requireRuntimeClient(config);
  const files = deployedFiles(config);
  closers.add(() => files.close());
  // What an agent made must have a place before any agent works.
  await files.check();
  const places = placesOf(config.dataDir);
  const { env } = process;
  const life = hostLife();
  const warnings: string[] = [];
  const warn = (text: string): void => {
    warnings.push(text);
    if (warnings.length > WARNINGS_MAX) warnings.shift();
    options.onNotice(text);
  };
  const { store, sealKey, lease } = await openOwnStore(places, config, { closers, life, env, warn });
  // The engine needs the activities, and they notify the engine.
  const late: { engine: HostEngine | null } = { engine: null };
  const notifier: Notifier = { deliver: (delivery) => engineOf(late).notices.deliver(delivery) };
  const kind = isService(options) ? 'worker' : 'run';
  const peer = peerOf({ config, kind, store, clock: systemClock, log: proxyLog(env) });
  const leads = leadsOf(peer);
  const warmMeter = lateWarmMeter();
  const wired = wireWorld({ config, places, store, files, sealKey, lease, notifier, warmMeter, env, warn });
  closers.add(() => wired.agent.close());
  const { world, codeHosts } = wired;
  const watch = createRunWatch(troubledRows(store));
  life.ended.catch((error: unknown) => watch.fail(error as Error));
  const onFailure = (error: Error): void => life.fail(error);
  const onNotice = (text: string): void => options.onNotice(text);
  const engine = await openEngine({
    ...{ config, places, store, world, sealKey, lease, leads, env, closers, onFailure, onNotice },
    isWorker: options.isWorker === true,
    onRows: () => watch.poke(),
  });
  late.engine = engine;
  warmMeter.listener = engine.warmMeter ?? null;
  // Sandboxes that outlived the last process find their way out again before any request goes to them.
  const endpoints = await openEndpoints({
    ...{ config, places, world, store, peer, codeHosts, env, warn, audit: store.audit },
  });
  closers.add(() => endpoints.close());
  wired.spend.flushWith(() => endpoints.flushSpend());
  closers.add(() => engine.stop());
  await openRelay({ config, lease, world, sealKey, closers });
  if (lease !== null) serveHost({ config, lease, leads, store, world, engine, closers, onFailure, onNotice });
  const followed = openFollowedFile({ config, env, options, closers, places, proxy: endpoints.proxy });
  const version = await openFollowedVersion(followed, { peer, options, store });
  // A service of several workers leads pods to any of them, also to one that has started none.
  if (isService(options)) await world.runtime.openWays?.();
  await engine.start();
  lookAfterSandboxes(world, { options, store, lease, leads, warmMeter, closers, onNotice });
  const { facts, requests } = engine;
  const served = await openServed(options, {
    ...{ followed, version, configurationOwner: null, store, world, requests, closers, env },
    ...{ relay: wired.relay, socketPath: places.apiSocket, isAlone: config.engine.kind === 'embedded' },
  });
  const host = hostOf({
    ...{ config, store, files, world, facts, requests, isReady: () => engine.isReady() },
    ...{ watch, life, warnings, closers, served },
  });
  const desk = ownerDesk(host, { requests, resultsDir: config.resultsDir });
  const control = await startControlServer(desk, places.controlSocket);
  closers.add(() => control.close());
  return host;
}

interface LookedAfter extends Pick<EngineParts, 'store' | 'lease' | 'leads' | 'closers' | 'onNotice'> {
  readonly options: HostOptions;
  readonly warmMeter: WarmMeter;
}

/** Other hosts reach agents of this one through it. */
async function openRelay(parts: {
  readonly config: DeploymentConfig;
  readonly lease: HostLease | null;
  readonly world: World;
  readonly sealKey: SealKey;
  readonly closers: Closers;
}): Promise<void> {
  const { config, lease, world, sealKey, closers } = parts;
  if (lease === null || config.host.relay === null) return;
  closers.add(await serveRelay(config.host.relay, { world, key: hostKeyOf(sealKey) }));
}

/** A worker that sees its own host alone looks after that; of those that see all sandboxes one does. */
function lookAfterSandboxes(
  world: World,
  { options, store, lease, leads, warmMeter, closers, onNotice }: LookedAfter,
): void {
  const sweeper = startSweeper(world, {
    leads: () => lease !== null || leads('sandboxes'),
    hosts: hostLookup(lease, store),
    onNotice,
  });
  closers.add(() => sweeper.close());
  // A process that only carries one run out would leave sandboxes behind that are never replaced.
  if (!isService(options)) return;
  const keeper = startWarmKeeper(world, {
    leads: () => lease !== null || leads('warm_pool'),
    meter: warmMeter,
    onNotice,
  });
  closers.add(() => keeper.close());
}

/** No other process writes into it, and what lives in it was begun on this engine. */
async function openOwnStore(
  places: Places,
  config: DeploymentConfig,
  {
    closers,
    life,
    env,
    warn,
  }: {
    readonly closers: Closers;
    readonly life: HostLife;
    readonly env: NodeJS.ProcessEnv;
    readonly warn: (text: string) => void;
  },
): Promise<Pick<EngineParts, 'store' | 'sealKey' | 'lease'>> {
  const { engine } = config;
  const lock = lockDataDirectory(places.dataDir, { startedAt: Date.now() });
  closers.add(() => lock.release());
  const sealKey = loadSealKey({ env: env['PARLEY_SEAL_KEY'], path: places.sealKeyFile });
  const isAlone = engine.kind === 'embedded';
  const owned = await openEngineStore(config, {
    isAlone,
    onLost: (error) => life.fail(error),
    onOlder: () => warn(OLDER_DATABASE),
  });
  closers.add(() => owned.close());
  const claim = isAlone ? takeInstallation : requireOwnInstallation;
  await claim(config, owned.store, sealKey);
  await requireOwnSandboxes(owned.store, engine.kind);
  const lease = isHostBound(config) ? await takeHostLease(owned.store.hosts, config) : null;
  return { store: owned.store, sealKey, lease };
}

function engineOf(late: { readonly engine: HostEngine | null }): HostEngine {
  if (late.engine === null) throw new Error('Cannot deliver an event: the engine has not been made');
  return late.engine;
}

/** Each is loaded on demand: Temporal's packages are large. */
async function openEngine(parts: EngineParts): Promise<HostEngine> {
  const { places, closers } = parts;
  switch (parts.config.engine.kind) {
    case 'embedded': {
      removeEngineNote(places);
      const { openEmbeddedEngine } = await import('../engines/embedded-engine.ts');
      return openEmbeddedEngine(parts);
    }
    case 'temporal': {
      closers.add(() => removeEngineNote(places));
      const { openTemporalEngine } = await import('../engines/temporal-engine.ts');
      return await openTemporalEngine(parts);
    }
  }
}
