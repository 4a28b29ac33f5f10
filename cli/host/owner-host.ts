/**
 * The host that owns a data directory: lock, store, engine, proxy, callbacks and Git relay of one process.
 * Owns the order in which they start and end; which engine it is makes no difference here.
 */
import { mkdirSync } from 'node:fs';
import { startControlServer } from '../../api/control-server.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { lockDataDirectory } from '../../store/data-directory-lock.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { loadSealKey } from '../../store/seal-key.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { ApplicationFacts, Host, HostOptions } from '../host-port.ts';
import type { ServedParts } from '../serve/open-application.ts';
import type { Closers } from './closers.ts';
import { openEndpoints } from './endpoints.ts';
import { removeEngineNote } from './engine-note.ts';
import type { EngineParts, HostEngine } from './host-engine.ts';
import { hostLife } from './host-life.ts';
import { hostOf } from './host-of.ts';
import { requireOwnSandboxes } from './engine-guard.ts';
import { placesOf, type Places } from './places.ts';
import { createRunWatch } from './run-watch.ts';
import { startSweeper } from './sweeper.ts';
import { wireWorld } from './wired-world.ts';

/** What is opened is left to `closers`, also when it throws. @throws as HostPort.openHost */
export async function openOwnerHost(
  config: DeploymentConfig,
  options: HostOptions,
  closers: Closers,
): Promise<Host> {
  const places = placesOf(config.dataDir);
  const store = await openOwnStore(places, config, closers);
  const { env } = process;
  const sealKey = loadSealKey({ env: env['PARLEY_SEAL_KEY'], path: places.sealKeyFile });
  const warnings: string[] = [];
  const warn = (text: string): void => {
    warnings.push(text);
    options.onNotice(text);
  };
  // The engine needs the activities, and they need somebody to notify: the engine.
  const late: { engine: HostEngine | null } = { engine: null };
  const notifier: Notifier = { deliver: (delivery) => engineOf(late).notices.deliver(delivery) };
  const wired = wireWorld({ config, places, store, sealKey, notifier, env, warn });
  closers.add(() => wired.agent.close());
  const { world, codeHosts } = wired;
  const watch = createRunWatch(store.records);
  const life = hostLife();
  const onFailure = (error: Error): void => {
    watch.fail(error);
    life.fail(error);
  };
  const engine = await openEngine({
    ...{ config, places, store, world, env, closers, onFailure },
    isWorker: options.isWorker === true,
    onRows: () => watch.poke(),
    onNotice: (text) => options.onNotice(text),
  });
  late.engine = engine;
  // Sandboxes that outlived the last process find their way out again before anything is asked of them.
  const endpoints = await openEndpoints({
    ...{ config, places, world, store, codeHosts, env, warn },
    audit: store.audit,
  });
  closers.add(() => endpoints.close());
  wired.spend.flushWith(() => endpoints.flushSpend());
  closers.add(() => engine.stop());
  await engine.start();
  const sweeper = startSweeper(world, (text) => options.onNotice(text));
  closers.add(() => sweeper.close());
  const control = await startControlServer(engine.requests, places.controlSocket);
  closers.add(() => control.close());
  const { facts, requests } = engine;
  const isReady = (): Promise<boolean> => engine.isReady();
  const application = await openServed(options, { config, store, world, requests, env, closers });
  return hostOf({
    config,
    store,
    world,
    facts,
    requests,
    isReady,
    watch,
    life,
    warnings,
    closers,
    application,
  });
}

/** Nobody else writes into it, and what lives in it was begun on this engine. */
async function openOwnStore(places: Places, { engine }: DeploymentConfig, closers: Closers): Promise<Store> {
  mkdirSync(places.dataDir, { recursive: true, mode: 0o700 });
  const lock = lockDataDirectory(places.dataDir, { startedAt: Date.now() });
  closers.add(() => lock.release());
  const store = await openStore({ kind: 'sqlite', path: places.database });
  closers.add(() => store.close());
  await requireOwnSandboxes(store, engine.kind);
  return store;
}

/** Last, so that nobody is answered before everything behind it works. */
async function openServed(
  { application }: HostOptions,
  parts: ServedParts,
): Promise<ApplicationFacts | null> {
  if (application === undefined) return null;
  const { openApplication } = await import('../serve/open-application.ts');
  return await openApplication(application, parts);
}

function engineOf(late: { readonly engine: HostEngine | null }): HostEngine {
  if (late.engine === null) throw new Error('Cannot deliver an event: the engine has not been made');
  return late.engine;
}

/** Each is loaded when it is asked for: Temporal's packages are large. */
async function openEngine(parts: EngineParts): Promise<HostEngine> {
  const { places, closers } = parts;
  switch (parts.config.engine.kind) {
    case 'embedded': {
      removeEngineNote(places);
      const { openEmbeddedEngine } = await import('./embedded-engine.ts');
      return openEmbeddedEngine(parts);
    }
    case 'temporal': {
      closers.add(() => removeEngineNote(places));
      const { openTemporalEngine } = await import('./temporal-engine.ts');
      return await openTemporalEngine(parts);
    }
  }
}
