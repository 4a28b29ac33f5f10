/**
 * Our proxy in front of a peer, for as long as a group of tests: real sockets, a spend log in memory.
 * Owns keys and wiring; a test names vendor word and entries.
 */
import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { SpendRow } from '../../core/money/spend.ts';
import type { KeyDirectory } from '../../ports/key-directory.ts';
import { parseProxyConfig } from '../../proxy/config/config-reading.ts';
import { createProxy } from '../../proxy/proxy.ts';
import { removeDir } from '../helpers/temp-dir.ts';
import { MemorySpendLog } from '../proxy/memory-spend-log.ts';

export const MASTER_KEY = 'sk-peers-master';
export const AGENT_KEY = 'sk-peers-agent';
/** Bound to AGENT_KEY. */
export const SESSION_ID = 'abcdef0123456789abcdef0123456789';

const KEYS: KeyDirectory = {
  find: (key) =>
    Promise.resolve(
      key === AGENT_KEY ? { name: 'agent', sessionId: SESSION_ID, userId: 'ada', models: null } : null,
    ),
};

export interface OpenProxy {
  readonly url: string;
  /** Every row so far, after a flush. */
  rows(): Promise<readonly SpendRow[]>;
  close(): Promise<void>;
}

export interface ProxyEntry {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export async function openProxy(options: {
  readonly vendor: string;
  readonly entries: readonly ProxyEntry[];
  readonly forwards?: boolean;
}): Promise<OpenProxy> {
  const { vendor } = options;
  const raw = {
    model_list: options.entries.map(({ name, params }) => ({
      model_name: name,
      [`${vendor}_params`]: params,
    })),
    general_settings: { forward_client_headers_to_llm_api: options.forwards ?? false },
  };
  const { config, problems } = parseProxyConfig(raw, { PROXY_MASTER_KEY: MASTER_KEY }, { vendor });
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  const spend = new MemorySpendLog();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-peers-'));
  let calls = 0;
  const ignore = (): void => undefined;
  const proxy = createProxy({
    config,
    keys: KEYS,
    spend,
    vendor,
    clock: { now: () => Date.now() },
    newId: () => `${path.basename(folder)}-${(calls += 1)}`,
    spoolDir: path.join(folder, 'spool'),
    log: { info: ignore, warn: ignore, error: ignore },
  });
  const address = await proxy.listen({ host: '127.0.0.1', port: 0 });
  return {
    url: 'port' in address ? `http://127.0.0.1:${address.port}` : '',
    async rows() {
      await proxy.flushSpend();
      return [...spend.rows.values()];
    },
    async close() {
      await proxy.close(0);
      removeDir(folder);
    },
  };
}
