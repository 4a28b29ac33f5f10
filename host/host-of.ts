/**
 * A host from its parts, whichever process owns the data directory.
 * Owns what is the same for both engines and for both sides; must not open anything.
 */
import type { World } from '../activities/world.ts';
import { collectNow } from '../activities/collect-now.ts';
import { reconcileNow } from '../activities/reconcile-run.ts';
import { reportNow } from '../activities/report-run.ts';
import type { Notifier } from '../ports/notifier.ts';
import type { Store } from '../store/open-store.ts';
import type { DeploymentConfig } from './config/deployment-config.ts';
import type { DeployedFiles } from './deployed-files.ts';
import type { EngineFacts, Host } from './host-port.ts';
import type { Closers } from './closers.ts';
import type { HostLife } from './host-life.ts';
import { readerOf } from './owner/reader.ts';
import { runRequests } from './run-requests.ts';
import type { RunWatch } from './run-watch.ts';
import type { Served } from './owner/served.ts';

export interface HostParts {
  readonly config: DeploymentConfig;
  readonly store: Store;
  readonly files: DeployedFiles;
  readonly world: World;
  readonly facts: EngineFacts;
  readonly requests: Notifier;
  isReady(): Promise<boolean>;
  readonly watch: RunWatch;
  readonly life: HostLife;
  readonly warnings: readonly string[];
  readonly closers: Closers;
  readonly served: Served;
}

export function hostOf(parts: HostParts): Host {
  const { config, store, files, world, facts, requests, watch, life, warnings, closers, served } = parts;
  return {
    ...readerOf(store, config, files),
    engine: facts,
    application: served.facts,
    localApi: () => served.localApi(),
    ended: life.ended,
    isReady: () => parts.isReady(),
    isolation: world.runtime.capabilities.isolation,
    warnings,
    ...runRequests({
      store,
      kind: facts.kind,
      requests: whileAlive(requests, life),
      deployment: world.deployment,
      vault: world.vault,
      env: process.env,
    }),
    waitForRun: (runId, onChange, signal) => watch.wait(runId, onChange, signal),
    reconcile: (runId, request) => reconcileNow(world, runId, request),
    report: (runId) => reportNow(world, runId),
    collect: (runId) => collectNow(world, runId),
    async close() {
      await closers.run();
      life.end();
    },
  };
}

/** No caller waits for an answer of an engine that cannot go on. */
function whileAlive(requests: Notifier, { ended }: HostLife): Notifier {
  return {
    async deliver(delivery) {
      const delivering = requests.deliver(delivery);
      // When the engine ends first, the result of the delivery does not matter.
      delivering.catch(() => undefined);
      await Promise.race([delivering, ended]);
    },
  };
}
