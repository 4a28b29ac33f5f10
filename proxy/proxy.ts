/**
 * The built-in model proxy, put together.
 * Owns its life from the first socket to the last flush; must not wire real stores or read the environment.
 */
import type { KeyDirectory } from '../ports/key-directory.ts';
import type { SpendLog } from '../ports/spend-log.ts';
import { callerFinder } from './caller.ts';
import type { ProxyConfig } from './config.ts';
import type { Environment } from './environment.ts';
import { GatewayPools } from './gateway-pools.ts';
import { openListener, type Listener, type ProxyAddress } from './listener.ts';
import { CLOSE_GRACE_MS } from './limits.ts';
import type { ProxyLog } from './log.ts';
import { ModelTable } from './model-table.ts';
import type { CallCounters, ProxyParts } from './proxy-parts.ts';
import { headerRule } from './request-headers.ts';
import { route } from './router.ts';
import { SpendWriter } from './spend-writer.ts';

export interface ProxyOptions {
  /** Checked by `parseProxyConfig`, without a problem that is an error. */
  readonly config: ProxyConfig;
  readonly keys: KeyDirectory;
  readonly spend: SpendLog;
  /** The product word in identifiers (D1). */
  readonly vendor: string;
  readonly clock: { now(): number };
  /** Ids of calls: unique over all processes that share the store. */
  readonly newId: () => string;
  /** A directory of this process alone; created when missing. Holds rows the store does not have yet. */
  readonly spoolDir: string;
  readonly log: ProxyLog;
  /** For `os.environ/NAME` in `POST /model/new`; none when left out. */
  readonly env?: Environment;
}

export interface ProxyMetrics extends Readonly<CallCounters> {
  readonly callsInFlight: number;
  readonly spoolBytes: number;
  readonly isStoreReachable: boolean;
}

export interface Proxy {
  /** Opens one more address; the first call also brings in what earlier processes left in the spool. */
  listen(address: ProxyAddress): Promise<ProxyAddress>;
  /** Every address listened on, as bound. */
  readonly addresses: readonly ProxyAddress[];
  /**
   * Takes no new call, gives those in flight `graceMs` (default 5000) to end, aborts the rest and flushes the spend
   * rows. Call it once.
   */
  close(graceMs?: number): Promise<void>;
  /** Brings the rows of every call that has ended to the store; while it is away, to no effect. */
  flushSpend(): Promise<void>;
  metrics(): ProxyMetrics;
}

/** @throws the file system's error when the spool directory cannot be used. */
export function createProxy(options: ProxyOptions): Proxy {
  const parts = assemble(options);
  const listeners: Listener[] = [];
  let recovery: Promise<void> | null = null;
  return {
    async listen(address) {
      // The store being away is no reason not to serve: the writer keeps the order and tries again.
      recovery ??= parts.writer.flush();
      await recovery;
      const listener = await openListener(address, (req, res) => void route(parts, req, res));
      listeners.push(listener);
      return listener.address;
    },
    get addresses() {
      return listeners.map((listener) => listener.address);
    },
    async close(graceMs = CLOSE_GRACE_MS) {
      await Promise.all(listeners.map((listener) => listener.close(graceMs)));
      for (const call of parts.openCalls) call.leave();
      await parts.pools.close();
      await parts.writer.stop();
    },
    flushSpend: () => parts.writer.flush(),
    metrics: () => ({
      ...parts.counters,
      callsInFlight: parts.openCalls.size,
      spoolBytes: parts.writer.spoolBytes,
      isStoreReachable: parts.writer.isStoreReachable,
    }),
  };
}

function assemble(options: ProxyOptions): ProxyParts {
  const { config, vendor, keys, spend, clock, log } = options;
  return {
    config,
    vendor,
    env: options.env ?? {},
    findCaller: callerFinder({ keys, masterKey: config.masterKey, vendor }),
    headerRule: headerRule(config, vendor),
    models: new ModelTable(config.models),
    pools: new GatewayPools(),
    spend,
    writer: new SpendWriter({ spend, spoolDir: options.spoolDir, clock, log }),
    clock,
    newId: options.newId,
    log,
    counters: { callsTotal: 0, succeeded: 0, failed: 0, aborted: 0, unpriced: 0 },
    openCalls: new Set(),
  };
}
