/**
 * The proxy as a process of its own: its files, its store, its configuration and the change of it while it serves.
 * Owns the wiring; what is served is decided by proxy/, what the file may hold by the checks of it.
 */
import { unwatchFile, watchFile } from 'node:fs';
import path from 'node:path';
import pino from 'pino';
import type { KeyDirectory } from '../../ports/key-directory.ts';
import { callIds } from '../../proxy/call-id.ts';
import type { ProxyConfig } from '../../proxy/config.ts';
import { CONFIG_LOOK_MS } from '../../proxy/limits.ts';
import type { ProxyLog } from '../../proxy/log.ts';
import { createProxy, type Proxy } from '../../proxy/proxy.ts';
import { lockDataDirectory } from '../../store/data-directory-lock.ts';
import { CliError } from '../cli-error.ts';
import { printProblem } from '../config/problem.ts';
import { printable } from '../print/terminal-text.ts';
import type { Shell } from '../shell.ts';
import { loadProxy, type LoadedProxy } from './load-proxy.ts';
import { openProxyStore } from './proxy-store.ts';

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
  const loaded = await loadFirst(shell, file);
  const log = pino(
    { level: shell.env['PARLEY_LOG_LEVEL'] ?? 'warn' },
    pino.destination({ dest: 2, sync: true }),
  );
  const dataDir = path.join(loaded.dataDir, 'proxy');
  const lock = lockDataDirectory(dataDir, { startedAt: shell.clock.now() });
  const { store, close: closeStore } = await openProxyStore(loaded, {
    dataDir,
    // Its connections are refused from then on, so nothing is spent that is not counted.
    onLost: (error) => log.error({ reason: error.message }, 'The database was lost to another proxy'),
  });
  const proxy = createProxy({
    config: loaded.config,
    keys: NO_CONVERSATIONS,
    accounting: { keys: store.proxyKeys, accounts: store.accounts },
    spend: store.spend,
    vendor: loaded.vendor,
    clock: shell.clock,
    newId: callIds(() => shell.clock.now()),
    spoolDir: path.join(dataDir, 'spool'),
    log,
    env: shell.env,
  });
  const end = async (): Promise<void> => {
    await proxy.close();
    await closeStore();
    lock.release();
  };
  try {
    const address = await proxy.listen({ host: place.host, port: place.port });
    const port = 'port' in address ? address.port : place.port;
    const reloader = watchConfig(shell, { file, proxy, log, loaded });
    return {
      url: `http://${place.host.includes(':') ? `[${place.host}]` : place.host}:${port}`,
      reload: reloader.reload,
      async close() {
        reloader.stop();
        await end();
      },
    };
  } catch (cause) {
    await end();
    throw cause;
  }
}

async function loadFirst(shell: Shell, file: string): Promise<LoadedProxy & { config: ProxyConfig }> {
  const loaded = await loadProxy(file, shell);
  for (const problem of loaded.problems) shell.stderr.write(printable(printProblem(problem)));
  const { config } = loaded;
  if (config !== null) return { ...loaded, config };
  throw new CliError('Cannot use the configuration: it has errors', {
    remedy: 'correct them and look with "parley config check"',
  });
}

interface Watched {
  readonly file: string;
  readonly proxy: Proxy;
  readonly log: ProxyLog;
  readonly loaded: LoadedProxy;
}

/** Looks at the file by its time and size, which follows links and works on every file system. */
function watchConfig(shell: Shell, watched: Watched): { reload(): Promise<void>; stop(): void } {
  const { file } = watched;
  let reloading: Promise<void> = Promise.resolve();
  const reload = (): Promise<void> => {
    reloading = reloading.then(() => reloadOnce(shell, watched));
    return reloading;
  };
  const onChange = (): void => void reload();
  watchFile(file, { interval: CONFIG_LOOK_MS, persistent: false }, onChange);
  return { reload, stop: () => unwatchFile(file, onChange) };
}

async function reloadOnce(shell: Shell, { file, proxy, log, loaded }: Watched): Promise<void> {
  const next = await loadProxy(file, shell);
  const isSamePlace = next.vendor === loaded.vendor && next.dataDir === loaded.dataDir;
  for (const { severity, message, line } of next.problems) {
    if (severity === 'error') log.error({ line }, message);
    else log.warn({ line }, message);
  }
  if (next.config === null) {
    proxy.reloadRefused();
    log.error({ file }, 'Cannot take the changed configuration: it has errors; the earlier one stays');
  } else if (!isSamePlace) {
    proxy.reloadRefused();
    log.error({ file }, 'Cannot take the changed configuration: proxy.vendor and store.path need a restart');
  } else {
    proxy.reload(next.config);
    log.warn({ models: next.config.models.length }, 'The changed configuration is in use');
  }
}
