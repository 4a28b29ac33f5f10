/**
 * Which keys of two configurations differ, and which of them a running process follows.
 * Owns the list of what is followed: all else is read once, at the start.
 */
import type { DeploymentConfig } from '../config/deployment-config.ts';

/** Read anew at every use, through the one object that the world holds. */
const FOLLOWED: readonly RegExp[] = [
  /^limits\./,
  /^capacity\./,
  /^warm_pool\./,
  /^user\./,
  /^agent\.iterations_max$/,
  /^proxy_config$/,
];

export function isFollowed(key: string): boolean {
  return FOLLOWED.some((pattern) => pattern.test(key));
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
