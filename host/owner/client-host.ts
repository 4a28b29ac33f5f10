/**
 * The host of a process that finds its data directory owned by an engine on Temporal, or leaves it to one: it sends
 * requests, and reads the rows.
 * Owns finding that engine; must not start one, and must not carry anything out.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ParleyError } from '../../core/parley-error.ts';
import { loadSealKey } from '../../store/access/seal-key.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { readConfigurationNote } from '../follow/configuration-note.ts';
import { configurationOwner } from '../follow/configuration-owner.ts';
import { deployedFiles } from '../deployed-files.ts';
import type { Host, HostOptions } from '../host-port.ts';
import type { Closers } from '../closers.ts';
import { openDeployedStore } from '../follow/config-store.ts';
import { requireOwnInstallation } from '../engines/engine-guard.ts';
import { readEngineNote, type EngineNote } from '../engines/engine-note.ts';
import { isService, openFollowedFile, openFollowedVersion } from '../follow/followed-file.ts';
import { hostLife } from '../host-life.ts';
import { hostOf } from '../host-of.ts';
import { systemClock } from '../../engine/system-clock.ts';
import { peerOf, proxyLog } from '../proxy/peer-of.ts';
import { placesOf, type Places } from '../sandboxes/places.ts';
import { createRunWatch } from '../run-watch.ts';
import { troubledRows } from '../troubled-rows.ts';
import { openServed } from './served.ts';
import { wireWorld } from '../wired-world.ts';

/** Rows are polled this often: another process writes them. */
const POLL_EVERY_MS = 250;
/** An owner that has just started says within this time where its engine is. */
const NOTE_MS_MAX = 20_000;
const NOTE_POLL_MS = 100;
const OWNER_CARRIES_OUT = 'another process owns the data directory and carries this out';
/** The proxy belongs to the owner, which follows the file itself. */
const NO_PROXY = { reload: () => undefined, reloadRefused: () => undefined } as const;

/** @throws `locked` when the owner of the directory is no engine on Temporal; else as HostPort.openHost */
export async function openClientHost(
  config: DeploymentConfig,
  { options, closers, locked }: ClientOpening,
): Promise<Host> {
  const places = placesOf(config.dataDir);
  const note = locked === null ? namedEngine(config) : await engineNote(places, locked);
  const store = await openDeployedStore(config);
  closers.add(() => store.close());
  const { env } = process;
  const sealKey = loadSealKey({ env: env['PARLEY_SEAL_KEY'], path: places.sealKeyFile });
  await requireOwnInstallation(config, store, sealKey);
  const watch = createRunWatch(troubledRows(store));
  const life = hostLife();
  const onFailure = (error: Error): void => {
    watch.fail(error);
    life.fail(error);
  };
  const { openRequests } = await import('../engines/temporal-client.ts');
  const warn = options.onNotice;
  const onNotice = (text: string): void => warn(text);
  const parts = { config, store, sealKey, env, closers, onFailure, onNotice };
  const requests = await openRequests(parts, note);
  const files = deployedFiles(config);
  closers.add(() => files.close());
  const { world, agent, relay } = wireWorld({
    ...{ config, places, store, files, sealKey, env, warn },
    notifier: requests,
  });
  closers.add(() => agent.close());
  const who = locked === null ? 'workers carry this out' : OWNER_CARRIES_OUT;
  warn(`${who}, on Temporal at ${note.address}`);
  const looking = setInterval(() => watch.poke(), POLL_EVERY_MS);
  closers.add(() => clearInterval(looking));
  const { address, namespace, queue } = note;
  const facts = { kind: 'temporal', address, namespace, queue, worker: null } as const;
  const isReady = (): Promise<boolean> => Promise.resolve(true);
  const followed = openFollowedFile({ config, env, options, closers, places: null, proxy: NO_PROXY });
  const peer = isService(options)
    ? peerOf({ config, kind: 'api', store, clock: systemClock, log: proxyLog(env) })
    : null;
  const version = await openFollowedVersion(followed, { peer, options, store });
  if (peer !== null) {
    await peer.start();
    closers.add(() => peer.stop());
  }
  const served = await openServed(options, {
    ...{ followed, version, store, world, relay, requests, closers, env },
    isAlone: false,
    socketPath: places.ownApiSocket,
    configurationOwner: configurationOwner(() => readConfigurationNote(places)),
  });
  return hostOf({
    ...{ config, store, files, world, facts, requests, isReady, watch, life, closers, served },
    warnings: [],
  });
}

export interface ClientOpening {
  readonly options: HostOptions;
  readonly closers: Closers;
  /** Why this process is not the owner; null when it would not be one anyway. */
  readonly locked: ParleyError | null;
}

/** As the deployment names it: a process that leaves the directory to workers may start before them. */
function namedEngine({ engine }: DeploymentConfig): EngineNote & { readonly address: string } {
  const { address, namespace, queue } = engine.temporal;
  if (engine.kind === 'temporal' && address !== null) return { address, namespace, queue, server: null };
  throw new ParleyError(
    'engine_misconfigured',
    'Cannot leave the work to workers: no Temporal server is named',
    {
      remedy: 'set engine.kind to temporal, and engine.address or TEMPORAL_ADDRESS',
    },
  );
}

async function engineNote(
  places: Places,
  locked: ParleyError,
): Promise<EngineNote & { readonly address: string }> {
  const until = Date.now() + NOTE_MS_MAX;
  for (;;) {
    const note = readEngineNote(places);
    const address = note?.address ?? null;
    if (note !== null && address !== null) return { ...note, address };
    if (note === null || Date.now() > until) throw locked;
    await pause(NOTE_POLL_MS);
  }
}
