/**
 * The built-in model proxy, put together.
 * Owns its life from the first socket to the last flush; must not wire real stores or read the environment.
 */
import type { Socket } from 'node:net';
import { ConnectionShares } from '../core/shares/connection-shares.ts';
import { HeldBytes } from '../core/shares/held-bytes.ts';
import type { SpendLoss } from '../core/money/spend-loss.ts';
import type { KeyDirectory } from '../ports/key-directory.ts';
import type { ProxyKeyStore } from '../ports/proxy-keys.ts';
import type { SpendAccounts } from '../ports/spend-accounts.ts';
import type { SpendBudgets } from '../ports/spend-budgets.ts';
import type { SpendLog } from '../ports/spend-log.ts';
import { readyCodings } from '../clients/gateway/content-coding.ts';
import { CallMetrics } from './admin/call-metrics.ts';
import { callerFinder } from './keys/caller.ts';
import type { ProxyConfig } from './config/config.ts';
import type { Environment } from './config/environment.ts';
import { GatewayPools } from './relay/gateway-pools.ts';
import { openListener, type Listener, type ProxyAddress, type SandboxConnections } from './listener.ts';
import {
  BODY_BYTES_ALL_MAX,
  BODY_BYTES_PER_CALLER_MAX,
  CLOSE_GRACE_MS,
  CONNECTIONS_PER_CALLER_MAX,
  SANDBOX_CONNECTIONS_MAX,
} from './limits.ts';
import type { ProxyLog } from './log.ts';
import { ModelTable } from './config/model-table.ts';
import { OpenCalls } from './relay/open-calls.ts';
import type { CallCounters, LiveConfig, ProxyParts } from './proxy-parts.ts';
import { headerRule } from './relay/request-headers.ts';
import { route } from './router.ts';
import { RunBudgets } from './keys/run-budgets.ts';
import { openShared } from './peers/open-shared.ts';
import type { ProxySharing } from './peers/proxy-sharing.ts';
import { SpendRetention } from './spend/spend-retention.ts';
import { SpendWriter } from './spend/spend-writer.ts';
import { VirtualKeys } from './keys/virtual-keys.ts';

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
  /** Virtual keys, budgets and daily totals; without it the routes for them answer 404. */
  readonly accounting?: { readonly keys: ProxyKeyStore; readonly accounts: SpendAccounts };
  /** Budgets of runs; without it no call is refused for one. */
  readonly budgets?: SpendBudgets;
  /** Open connections of all sandboxes; lower than the default where the process may open few descriptors. */
  readonly sandboxConnectionsMax?: number;
  /** Called when sandboxes reach a bound that they share. */
  readonly onStrike?: (text: string) => void;
  /** Called when the store had lost calls that were written to it before. */
  readonly onSpendLost?: (lost: SpendLoss) => void;
  /** Where other proxies serve over the same store; without it this process alone knows the rest of every limit. */
  readonly sharing?: ProxySharing;
  /** For `os.environ/NAME` in `POST /model/new`; none when left out. */
  readonly env?: Environment;
}

export interface ProxyMetrics extends Readonly<CallCounters> {
  readonly callsInFlight: number;
  readonly spoolBytes: number;
  readonly isStoreReachable: boolean;
}

/** A running proxy, for the process that starts it. */
export interface Proxy {
  /** Opens one more address; the first call also stores the rows that earlier processes left in the spool. */
  listen(address: ProxyAddress): Promise<ProxyAddress>;
  /** Every address listened on, as bound. */
  readonly addresses: readonly ProxyAddress[];
  /**
   * Takes no new call, gives those in flight `graceMs` (default 5000) to end, aborts the rest and flushes the spend
   * rows. Call it once.
   */
  close(graceMs?: number): Promise<void>;
  /**
   * Serves by this configuration from the next call on; calls in flight end by the old one. Entries that were added
   * stay (D25). The master key stays as it was, because it comes from the process's environment.
   */
  reload(config: ProxyConfig): void;
  /** Counts a configuration that was refused, for the metrics. */
  reloadRefused(): void;
  /** Writes the rows of every ended call to the store; has no effect while the store is away. */
  flushSpend(): Promise<void>;
  metrics(): ProxyMetrics;
}

/** @throws the file system's error when the spool directory cannot be used. */
export function createProxy(options: ProxyOptions): Proxy {
  const parts = assemble(options);
  const listeners: Listener[] = [];
  const retention = retentionOf(parts);
  let recovery: Promise<void> | null = null;
  return {
    async listen(address) {
      // The proxy serves even while the store is away: the writer keeps the order and tries again.
      recovery ??= joined(parts).then(() => retention?.start());
      await Promise.all([recovery, readyCodings()]);
      const listener = await openListener(address, (req, res) => route(parts, req, res), parts.sandboxes);
      listeners.push(listener);
      return listener.address;
    },
    get addresses() {
      return listeners.map((listener) => listener.address);
    },
    async close(graceMs = CLOSE_GRACE_MS) {
      parts.isDraining = true;
      await Promise.all(listeners.map((listener) => listener.close(graceMs)));
      parts.openCalls.leaveAll();
      await parts.pools.close();
      await retention?.stop();
      parts.metrics.stop();
      await parts.writer.stop();
      await parts.shared?.limits.report();
      parts.shared?.limits.stop();
      await parts.shared?.life.stop();
    },
    reload(config) {
      parts.live = liveOf(config, options.vendor, parts.live.models);
      parts.pools.keepOnly(new Set(parts.live.models.entries().map((entry) => entry.origin)));
      parts.counters.reloads += 1;
    },
    reloadRefused() {
      parts.counters.reloadFailures += 1;
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

/** Joins first, because the open rows of a proxy that has not joined count as interrupted. */
async function joined({ shared, writer }: ProxyParts): Promise<void> {
  await shared?.life.start();
  await writer.flush();
}

function liveOf(config: ProxyConfig, vendor: string, before?: ModelTable): LiveConfig {
  return { config, headerRule: headerRule(config, vendor), models: new ModelTable(config.models, before) };
}

function retentionOf(parts: ProxyParts): SpendRetention | null {
  const { accounts, shared, clock, log } = parts;
  if (accounts === null) return null;
  return new SpendRetention({
    ...{ accounts, clock, log },
    leads: () => shared?.life.leads('spend_totals') ?? true,
    days: () => parts.live.config.spendRetentionDays,
    onFold: (startedBefore) => parts.writer.forgetBefore(startedBefore),
  });
}

function sandboxConnections({
  sandboxConnectionsMax: max = SANDBOX_CONNECTIONS_MAX,
  onStrike,
}: ProxyOptions): SandboxConnections {
  const shares = new ConnectionShares<Socket>({ max, perOwnerMax: CONNECTIONS_PER_CALLER_MAX }, (strike) =>
    onStrike?.(`Cannot keep a connection to the model proxy: too many of ${strike}`),
  );
  return { max, shares };
}

function assemble(options: ProxyOptions): ProxyParts {
  const { config, vendor, keys, spend, clock, log, accounting, budgets } = options;
  const { spoolDir, onSpendLost: onLost } = options;
  const writer = new SpendWriter({
    ...{ spend, spoolDir, clock, log },
    ...(onLost === undefined ? {} : { onLost }),
    isCommittedFirst: () => parts.live.config.commitsBeforeDispatch,
  });
  const flush = (): Promise<void> => writer.flush();
  const shared =
    options.sharing === undefined ? null : openShared(options.sharing, { ...options, parts: () => parts });
  const sharing = shared === null ? {} : { shared: shared.limits };
  const virtualKeys =
    accounting === undefined
      ? null
      : new VirtualKeys({
          store: accounting.keys,
          accounts: accounting.accounts,
          flush,
          clock,
          ...(shared === null
            ? {}
            : { shared: { limits: shared.limits, announce: () => shared.life.announce() } }),
        });
  const directories = virtualKeys === null ? [keys] : [keys, virtualKeys];
  const parts: ProxyParts = {
    live: liveOf(config, vendor),
    vendor,
    env: options.env ?? {},
    findCaller: callerFinder({ directories, masterKey: config.masterKey, vendor }),
    pools: new GatewayPools(),
    spend,
    accounts: accounting?.accounts ?? null,
    virtualKeys,
    runBudgets: budgets === undefined ? null : new RunBudgets({ budgets, flush, clock, ...sharing }),
    writer,
    shared,
    clock,
    newId: options.newId,
    log,
    counters: {
      callsTotal: 0,
      succeeded: 0,
      failed: 0,
      aborted: 0,
      unpriced: 0,
      reloads: 0,
      reloadFailures: 0,
    },
    metrics: new CallMetrics(),
    openCalls: new OpenCalls(),
    sandboxes: sandboxConnections(options),
    bodies: new HeldBytes({ max: BODY_BYTES_ALL_MAX, perOwnerMax: BODY_BYTES_PER_CALLER_MAX }),
    announced: new HeldBytes({ max: Infinity, perOwnerMax: BODY_BYTES_PER_CALLER_MAX }),
    isDraining: false,
  };
  return parts;
}
