/**
 * The proxy as a process of its own: its files, its store, and what its log says of a configuration that changed.
 * Owns the wiring; what is served is decided by proxy/, what is followed of the file by host/follow/.
 */
import path from 'node:path';
import pino from 'pino';
import type { KeyDirectory } from '../../ports/key-directory.ts';
import { callIds } from '../../proxy/spend/call-id.ts';
import type { ProxyConfig } from '../../proxy/config/config.ts';
import { parseProxyConfig } from '../../proxy/config/config-reading.ts';
import type { ProxyLog } from '../../proxy/log.ts';
import type { ProxySharing } from '../../proxy/peers/proxy-sharing.ts';
import { createProxy } from '../../proxy/proxy.ts';
import { drainSpool } from '../../proxy/spend/orphan-spool.ts';
import { sealKeyOfSecret } from '../../store/access/seal-key.ts';
import type { Store } from '../../store/open-store.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { FollowedConfiguration, type FollowNews } from '../follow/followed-configuration.ts';
import { openDeployment } from '../open-deployment.ts';
import type { Shell } from '../shell.ts';
import { orphanFolders, spoolOf, takeProxyFolder } from './proxy-folders.ts';

/** The built-in proxy of this process. */
export interface ProxyHost {
  readonly url: string;
  /** Reads the file again; a faulty one is named in the log, and the old configuration stays. */
  reload(): Promise<void>;
  /** Lets calls in flight end, then ends; a second call changes nothing. */
  close(): Promise<void>;
}

export interface ProxyPlace {
  /** File with the block `proxy_config`. */
  readonly config: string;
  readonly host: string;
  readonly port: number;
}

/** A process of its own serves virtual keys only; those of conversations belong to the engine that made them. */
const NO_CONVERSATIONS: KeyDirectory = { find: () => null };

/** @throws CliError when the configuration, its folder or the address cannot be used. */
export async function openProxyHost(shell: Shell, place: ProxyPlace): Promise<ProxyHost> {
  const file = path.resolve(shell.cwd, place.config);
  const config = await openDeployment(shell, { path: file, startsProxy: true });
  const { vendor } = config.deployment;
  const log = pino(
    { level: shell.env['PARLEY_LOG_LEVEL'] ?? 'warn' },
    pino.destination({ dest: 2, sync: true }),
  );
  const folder = takeProxyFolder(config.dataDir, {
    startedAt: shell.clock.now(),
    isShared: config.store.kind === 'postgres',
  });
  const { store, close: closeStore } = await openProxyStore(config, {
    dataDir: folder.path,
    // Its connections are refused from then on, so nothing is spent that is not counted.
    onLost: (error) => log.error({ reason: error.message }, 'The database was lost to another proxy'),
  });
  const proxyConfig = parseProxyConfig(config.proxyConfigRaw, shell.env, { vendor }).config;
  const sharing =
    config.store.kind === 'postgres' ? sharingOf(store, { shell, log, config, proxyConfig }) : null;
  // Also its own folder, of a proxy before it that was killed.
  await sharing?.drain(folder.path);
  const proxy = createProxy({
    config: proxyConfig,
    ...(sharing === null ? {} : { sharing }),
    keys: NO_CONVERSATIONS,
    accounting: { keys: store.proxyKeys, accounts: store.accounts },
    spend: store.spend,
    vendor,
    clock: shell.clock,
    newId: callIds(() => shell.clock.now()),
    spoolDir: spoolOf(folder.path),
    log,
    env: shell.env,
  });
  const end = async (): Promise<void> => {
    await proxy.close();
    await closeStore();
    folder.release();
  };
  try {
    const address = await proxy.listen({ host: place.host, port: place.port });
    const port = 'port' in address ? address.port : place.port;
    const followed = new FollowedConfiguration({
      ...{ config, cwd: shell.cwd, env: shell.env, proxy },
      onNews: (news) => logNews(log, file, followed, news),
    });
    followed.start();
    return {
      url: `http://${place.host.includes(':') ? `[${place.host}]` : place.host}:${port}`,
      reload: () => followed.reload(),
      async close() {
        await followed.close();
        await end();
      },
    };
  } catch (cause) {
    await end();
    throw cause;
  }
}

interface SharingContext {
  readonly shell: Shell;
  readonly log: ProxyLog;
  readonly config: Pick<DeploymentConfig, 'dataDir'>;
  readonly proxyConfig: Pick<ProxyConfig, 'masterKey'>;
}

/** Every proxy over one database has the master key, so what all of them may read is sealed with it. */
function sharingOf(
  store: Store,
  context: SharingContext,
): ProxySharing & { drain(folder: string): Promise<void> } {
  const { shell, log, config, proxyConfig } = context;
  const { proxyPeers: peers, leases, spend } = store;
  const drain = async (folder: string): Promise<void> => {
    const calls = await drainSpool(spoolOf(folder), { spend, peers, leases, clock: shell.clock });
    if (calls > 0) log.warn({ folder, calls }, 'Rows of a proxy that is gone are in the store');
  };
  return {
    ...{ peers, leases, drain },
    vault: store.vault(sealKeyOfSecret(proxyConfig.masterKey ?? '')),
    async tendOrphans() {
      for (const orphan of orphanFolders(config.dataDir, shell.clock.now())) {
        try {
          await drain(orphan.path);
        } finally {
          orphan.release();
        }
      }
    },
  };
}

/** What of the file a proxy reads once: where it keeps things, and the word that its callers know. */
const READ_ONCE = /^(proxy\.vendor|store\..*|proxy_config)$/;

function logNews(log: ProxyLog, file: string, { proxy }: FollowedConfiguration, news: FollowNews): void {
  const problems = news.kind === 'refused' ? news.problems : news.warnings;
  for (const { severity, message, line, column, remedy } of problems) {
    const place = { line, column, ...(remedy === null ? {} : { remedy }) };
    if (severity === 'error') log.error(place, message);
    else log.warn(place, message);
  }
  if (news.kind === 'refused') {
    log.error({ file }, 'Cannot take the changed configuration: it has errors; the earlier one stays');
    return;
  }
  const waiting = news.needsRestart.filter((key) => READ_ONCE.test(key));
  if (waiting.length > 0)
    log.error({ file, keys: waiting.join(', ') }, 'A part of the changed configuration needs a restart');
  if (news.applied.includes('proxy_config'))
    log.warn({ models: proxy.models.length }, 'The changed configuration is in use');
  else log.warn({ file }, 'The configuration is as it was in all that the proxy serves by');
}

/** Beside the tables of an engine in the same database. */
const SCHEMA = 'parley_proxy';

/** The store of a proxy that is a process of its own: keys and spend, apart from those of an engine. */
interface ProxyStore {
  readonly store: Store;
  close(): Promise<void>;
}

/**
 * A file has one proxy; over a server any number share budgets, limits and keys.
 * @throws ParleyError store_unavailable; data_directory_locked when a proxy of an older version has that schema alone
 */
async function openProxyStore(
  { store }: Pick<DeploymentConfig, 'store'>,
  { dataDir, onLost }: { readonly dataDir: string; onLost(error: Error): void },
): Promise<ProxyStore> {
  const { openStore } = await import('../../store/open-store.ts');
  if (store.kind !== 'postgres') {
    const opened = await openStore({
      kind: 'sqlite',
      path: path.join(dataDir, 'proxy.db'),
      fence: { onLost },
    });
    return { store: opened, close: () => opened.close() };
  }
  const { openGuardedStore } = await import('../follow/config-store.ts');
  return await openGuardedStore({ ...store.server, schema: SCHEMA }, { isAlone: false, onLost });
}
