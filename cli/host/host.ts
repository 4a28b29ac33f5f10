/**
 * The embedded host: lock, store, engine, proxy, callbacks and Git relay of one process.
 * Owns the order in which they start and end; this is the only place that wires real parts together.
 */
import { mkdirSync } from 'node:fs';
import { activitiesOf } from '../../activities/registry.ts';
import { collectNow } from '../../activities/collect-now.ts';
import { reconcileNow } from '../../activities/reconcile-run.ts';
import { reportNow } from '../../activities/report-run.ts';
import { LOCAL_USER } from '../../activities/start-conversation.ts';
import { startControlServer } from '../../api/control-server.ts';
import type { RunId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { runBirth } from '../../core/run/state.ts';
import { Engine } from '../../engine/engine.ts';
import { systemClock } from '../../engine/system-clock.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { lockDataDirectory } from '../../store/data-directory-lock.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { loadSealKey } from '../../store/seal-key.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { Host, HostPort, RunRequest } from '../host-port.ts';
import { sendControl } from './control-client.ts';
import { embeddedWorld, type EmbeddedWorld } from './embedded-world.ts';
import { openEndpoints } from './endpoints.ts';
import { placesOf } from './places.ts';
import { readerOf } from './reader.ts';
import { createRunWatch, type RunWatch } from './run-watch.ts';

export { openReader } from './reader.ts';
export const control: HostPort['control'] = sendControl;

/** Things to undo, last first, when starting fails half-way or the host ends. */
class Closers {
  private readonly closers: (() => void | Promise<void>)[] = [];

  add(close: () => void | Promise<void>): void {
    this.closers.unshift(close);
  }

  async run(): Promise<void> {
    for (const close of this.closers.splice(0)) await close();
  }
}

/** @throws ParleyError data_directory_locked, config_invalid, runtime_failed, store_unavailable */
export async function openHost(
  config: DeploymentConfig,
  options: { onNotice(text: string): void },
): Promise<Host> {
  const closers = new Closers();
  try {
    return await start(config, options, closers);
  } catch (error) {
    await closers.run();
    throw error;
  }
}

async function start(
  config: DeploymentConfig,
  options: { onNotice(text: string): void },
  closers: Closers,
): Promise<Host> {
  const places = placesOf(config.dataDir);
  mkdirSync(places.dataDir, { recursive: true, mode: 0o700 });
  const lock = lockDataDirectory(places.dataDir, { startedAt: Date.now() });
  closers.add(() => lock.release());
  const store = await openStore({ kind: 'sqlite', path: places.database });
  closers.add(() => store.close());
  const { env } = process;
  const sealKey = loadSealKey({ env: env['PARLEY_SEAL_KEY'], path: places.sealKeyFile });
  const warnings: string[] = [];
  const warn = (text: string): void => {
    warnings.push(text);
    options.onNotice(text);
  };
  // The engine needs the activities, and they need somebody to notify: the engine.
  const late: { engine: Engine | null } = { engine: null };
  const notifier: Notifier = { deliver: (delivery) => engineOf(late).deliver(delivery) };
  const embedded = embeddedWorld({ config, places, store, sealKey, notifier, env, warn });
  closers.add(() => embedded.agent.close());
  const watch = createRunWatch(store.records);
  const engine = startable(embedded, store, watch, options);
  late.engine = engine;
  const { world, codeHosts } = embedded;
  // Sandboxes that outlived the last process find their way out again before anything is asked of them.
  const endpoints = await openEndpoints({ config, places, world, codeHosts, env, warn });
  closers.add(() => endpoints.close());
  embedded.spend.flushWith(() => endpoints.flushSpend());
  closers.add(() => engine.stop());
  await engine.start();
  const control = await startControlServer(engine, places.controlSocket);
  closers.add(() => control.close());
  return hostOf({ config, store, engine, embedded, watch, warnings, closers });
}

function engineOf(late: { readonly engine: Engine | null }): Engine {
  if (late.engine === null) throw new Error('Cannot deliver an event: the engine has not been made');
  return late.engine;
}

function startable(
  { world }: EmbeddedWorld,
  store: Store,
  watch: RunWatch,
  options: { onNotice(text: string): void },
): Engine {
  return new Engine({
    store: store.engine,
    activities: activitiesOf(world),
    clock: systemClock,
    onCommit: () => watch.poke(),
    onStepError: (error, to) =>
      options.onNotice(`Cannot apply an event to ${to.machine} "${to.id}": ${String(error)}`),
    onCommitError: (error) => options.onNotice(`Cannot write to the store, trying again: ${String(error)}`),
  });
}

interface HostParts {
  readonly config: DeploymentConfig;
  readonly store: Store;
  readonly engine: Engine;
  readonly embedded: EmbeddedWorld;
  readonly watch: RunWatch;
  readonly warnings: readonly string[];
  readonly closers: Closers;
}

function hostOf({ config, store, engine, embedded, watch, warnings, closers }: HostParts): Host {
  const { world } = embedded;
  const tellRun = async (runId: RunId, event: RunRequest): Promise<void> => {
    if ((await store.records.run(runId)) === null) {
      throw new ParleyError('not_found', `Cannot find the run "${runId}"`);
    }
    await engine.deliver({ to: { machine: 'run', id: runId }, event });
  };
  return {
    ...readerOf(store, config),
    isolation: world.runtime.capabilities.isolation,
    warnings,
    async startRun(runId, plan) {
      await store.plans.putPlan(runId, plan);
      const birth = runBirth(plan, { runId, userId: LOCAL_USER });
      await engine.deliver({ to: { machine: 'run', id: runId }, event: { type: 'runStarted', birth } });
    },
    tellRun,
    waitForRun: (runId, onChange, signal) => watch.wait(runId, onChange, signal),
    reconcile: (runId, rowsFile) => reconcileNow(world, runId, rowsFile),
    report: (runId) => reportNow(world, runId),
    collect: (runId) => collectNow(world, runId),
    close: () => closers.run(),
  };
}
