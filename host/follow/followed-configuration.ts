/**
 * The configuration that holds in a running process, and how a changed one is taken up: one rule for the desk of the
 * API, for a process that carries sandboxes out, and for the proxy as a process of its own.
 * Owns what is in force and the polls of the file; must not write it, nor word what is said about it.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Deployment } from '../../ports/deployment.ts';
import type { ConfigurationVersion } from '../../ports/shared-configuration.ts';
import type { ProxyConfig } from '../../proxy/config/config.ts';
import { parseProxyConfig } from '../../proxy/config/config-reading.ts';
import { CONFIG_POLL_MS } from '../../proxy/limits.ts';
import type { Proxy } from '../../proxy/proxy.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { CONFIG_FILE } from '../config/deployment-file.ts';
import type { Environment } from '../config/effective-values.ts';
import { loadDeployment, type LoadedDeployment } from '../config/load-deployment.ts';
import type { Problem } from '../config/problem.ts';
import { isFollowed } from '../config/shared-text.ts';
import { revisionOfFile } from './configuration-file.ts';

/** An editor may write a file in pieces: a text counts when it is still the same after this. */
const SETTLE_MS = 50;

export interface FollowParts {
  /** Its `deployment` is the one object that everything in this process reads at every use. */
  readonly config: DeploymentConfig;
  readonly cwd: string;
  readonly env: Environment;
  readonly proxy: Pick<Proxy, 'reload' | 'reloadRefused'>;
  /** The result of a text that another process or a user has written. */
  onNews(news: FollowNews): void;
  /** At the start of the polls, and whenever it has changed. */
  onStanding?(standing: Standing): void;
}

export type FollowNews =
  | {
      readonly kind: 'refused';
      readonly problems: readonly Problem[];
      /** Of the shared configuration, where it was none of the file. */
      readonly version?: number;
    }
  | {
      readonly kind: 'taken';
      /** Keys that hold from now on. */
      readonly applied: readonly string[];
      /** Keys that hold after the next start only. */
      readonly needsRestart: readonly string[];
      readonly warnings: readonly Problem[];
      /** True when the text before had errors. */
      readonly isMended: boolean;
      /** As above. */
      readonly version?: number;
    };

/** How a process stands to the text of its file. */
export interface Standing {
  /** Absolute. */
  readonly file: string;
  /** Of the text that was read last. */
  readonly revision: string;
  /** What is wrong with that text; the earlier one then stays in force. */
  readonly refused: readonly Problem[];
  /** Keys that hold after the next start only. */
  readonly needsRestart: readonly string[];
}

export class FollowedConfiguration {
  readonly file: string;
  private readonly parts: FollowParts;
  private readonly atStart: DeploymentConfig;
  private config: DeploymentConfig;
  private served: ProxyConfig;
  /** The vendor word is another one now, and the models are written in it. */
  private isProxyWaiting = false;
  private seen: string;
  private laidOver: ConfigurationVersion | null = null;
  private refused: readonly Problem[] = [];
  private last: Promise<unknown> = Promise.resolve();
  private timer: NodeJS.Timeout | null = null;
  private isClosed = false;

  constructor(parts: FollowParts) {
    const { config, env } = parts;
    const { vendor } = config.deployment;
    this.parts = parts;
    this.file = config.configPath ?? path.join(config.baseDir, CONFIG_FILE);
    this.atStart = config;
    this.config = config;
    this.seen = config.reading.revision;
    this.served = parseProxyConfig(config.proxyConfigRaw, env, { vendor }).config;
  }

  /** What everything in this process reads. */
  get deployment(): Deployment {
    return this.parts.config.deployment;
  }

  /** As it was taken up last, with what waits for a restart. */
  get inForce(): DeploymentConfig {
    return this.config;
  }

  get proxy(): ProxyConfig {
    return this.served;
  }

  /** Every key that is another one than at the start, followed or not. */
  get changedSinceStart(): readonly string[] {
    return differences(this.atStart, this.config);
  }

  /** Followed keys that are another one than they were then. */
  changedSince(earlier: DeploymentConfig): readonly string[] {
    return differences(earlier, this.config).filter(isFollowed);
  }

  get standing(): Standing {
    const waiting = this.changedSinceStart.filter((key) => !isFollowed(key));
    const needsRestart = this.isProxyWaiting ? [...waiting, 'proxy_config'] : waiting;
    return { file: this.file, revision: this.seen, refused: this.refused, needsRestart };
  }

  /** Polls the file from now on, until it is closed. */
  start(): void {
    this.parts.onStanding?.(this.standing);
    void this.pollOn();
  }

  /** Waits for what is going on. */
  async close(): Promise<void> {
    this.isClosed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.last.catch(() => undefined);
  }

  /** One after the other, also after one that failed. */
  inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const mine = this.last.then(work, work);
    this.last = mine;
    return mine;
  }

  /** Takes up the text of the file, when it is another one than was read last. */
  poll(): Promise<void> {
    return this.inTurn(async () => {
      const revision = revisionOfFile(this.file);
      if (this.isClosed || revision === this.seen) return;
      await pause(SETTLE_MS);
      const loaded = await this.load(this.file);
      // Otherwise the file is still being written, and the next poll sees the whole.
      if (loaded.file?.revision === revision) this.taken(loaded);
    });
  }

  /** Takes up the text of the file as it is, on request. */
  reload(): Promise<void> {
    return this.inTurn(async () => this.taken(await this.load(this.file)));
  }

  /** As every start reads it. Never throws for anything that the file holds. */
  load(file: string, shared = this.laidOver): Promise<LoadedDeployment> {
    const { cwd, env } = this.parts;
    // Without one, defaults and the shared keys are all there is, as at the start.
    const path = file === this.file && this.config.configPath === null && !existsSync(file) ? null : file;
    return loadDeployment({ path, cwd, env, shared });
  }

  /** Of the shared configuration, which wins over the file; null: the file alone. */
  get shared(): ConfigurationVersion | null {
    return this.laidOver;
  }

  /** Takes a version of it up, if it can. @returns what is wrong with it here */
  takeShared(shared: ConfigurationVersion): Promise<readonly Problem[]> {
    return this.inTurn(async () => {
      const { version } = shared;
      const { config, problems } = await this.load(this.file, shared);
      const errors = errorsOf(problems);
      if (config === null || errors.length > 0) {
        this.parts.proxy.reloadRefused();
        this.parts.onNews({ kind: 'refused', problems: errors, version });
        return errors;
      }
      this.laidOver = shared;
      const applied = this.takeUp(config);
      const { needsRestart } = this.standing;
      this.parts.onNews({
        kind: 'taken',
        applied,
        needsRestart,
        warnings: problems,
        isMended: false,
        version,
      });
      return [];
    });
  }

  /** What has no errors is in force from now on, as far as it is followed. @returns the keys that hold */
  takeUp(next: DeploymentConfig): readonly string[] {
    const applied = this.apply(next);
    this.refused = [];
    this.seen = next.reading.revision;
    this.parts.onStanding?.(this.standing);
    return applied;
  }

  private async pollOn(): Promise<void> {
    await this.poll();
    if (this.isClosed) return;
    this.timer = setTimeout(() => void this.pollOn(), CONFIG_POLL_MS);
    this.timer.unref();
  }

  private taken({ config, problems, file }: LoadedDeployment): void {
    const errors = errorsOf(problems);
    if (config === null || errors.length > 0) {
      this.refused = errors;
      this.seen = file?.revision ?? '';
      this.parts.proxy.reloadRefused();
      this.parts.onStanding?.(this.standing);
      return this.parts.onNews({ kind: 'refused', problems: errors });
    }
    const isMended = this.refused.length > 0;
    const applied = this.takeUp(config);
    const { needsRestart } = this.standing;
    this.parts.onNews({ kind: 'taken', applied, needsRestart, warnings: problems, isMended });
  }

  /**
   * The product word stays: identifiers of conversations that go on are made of it. So does what the warm pool is made
   * with: the runtime itself is read once.
   */
  private apply(next: DeploymentConfig): readonly string[] {
    const { deployment } = this.parts.config;
    const { vendor, warmPool: before } = deployment;
    const { config: proxy, problems } = parseProxyConfig(next.proxyConfigRaw, this.parts.env, { vendor });
    this.isProxyWaiting = problems.some(({ severity }) => severity === 'error');
    const { forwardsHeaders } = this.isProxyWaiting ? deployment : next.deployment;
    const { warmPool: wanted } = next.deployment;
    const warmPool = before === undefined || wanted === undefined ? wanted : { ...wanted, spec: before.spec };
    const changed = differences(this.config, next).filter(isFollowed);
    // Whether sandboxes have hosts was decided at the start.
    const capacity = { ...next.deployment.capacity, hosts: deployment.capacity.hosts };
    Object.assign(deployment, { ...next.deployment, capacity, vendor, warmPool, forwardsHeaders });
    this.config = next;
    const applied = this.isProxyWaiting ? changed.filter((key) => key !== 'proxy_config') : changed;
    if (!applied.includes('proxy_config')) return applied;
    this.served = proxy;
    this.parts.proxy.reload(proxy);
    return applied;
  }
}

export function errorsOf(problems: readonly Problem[]): readonly Problem[] {
  return problems.filter(({ severity }) => severity === 'error');
}

/** Keys, and blocks that are no single values, in the order of the pages. */
export function differences(before: DeploymentConfig, after: DeploymentConfig): readonly string[] {
  const valuesBefore = new Map<string, unknown>(
    before.reading.values.map(({ path, value }) => [path, value]),
  );
  const single = after.reading.values.filter(({ path, value }) => valuesBefore.get(path) !== value);
  const blocksBefore = blocksOf(before);
  const blocks = Object.entries(blocksOf(after)).filter(([name, text]) => blocksBefore[name] !== text);
  return [...single.map(({ path }) => path), ...blocks.map(([name]) => name)];
}

/** Compared as text; what a reference stands for counts, too. */
function blocksOf(config: DeploymentConfig): Readonly<Record<string, string>> {
  const { engine, store } = config;
  const server = store.kind === 'postgres' ? store.server : null;
  const blocks = {
    'engine.tls': [engine.temporal.tls, engine.temporal.apiKey],
    'store.url': server?.address,
    'store.tls': server?.tls,
    'store.blobs': config.bucket,
    'host.labels': config.host.labels,
    'runtime.egress': [config.egressAllow, config.egressCa],
    code_hosts: [config.codeHosts, config.codeHostTokens],
    proxy_config: config.proxyConfigRaw,
    'gateway.export': config.gatewayExport,
  };
  return Object.fromEntries(
    Object.entries(blocks).map(([name, block]) => [name, JSON.stringify(block) ?? '']),
  );
}
