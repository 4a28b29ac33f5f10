/**
 * A real proxy on a free loopback port, with keys and a store in memory.
 * Owns the wiring that most tests share; a test overrides what it is about.
 */
import { request as httpRequest } from 'node:http';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { SpendRow } from '../../core/money/spend.ts';
import type { KeyDirectory, ProxyCaller } from '../../ports/key-directory.ts';
import type { SpendBudgets } from '../../ports/spend-budgets.ts';
import type { ConfigProblem } from '../../proxy/config/config.ts';
import { parseProxyConfig } from '../../proxy/config/config-reading.ts';
import { createProxy, type Proxy } from '../../proxy/proxy.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { MemorySpendLog } from './memory-spend-log.ts';

export const VENDOR = 'proxyvendor';
export const MASTER_KEY = 'sk-master-000';
export const AGENT_KEY = 'sk-agent-111';
export const PLAIN_KEY = 'sk-plain-222';
export const GATEWAY_KEY = 'sk-gateway-secret-333';
export const SESSION_ID = '0123456789abcdef0123456789abcdef';
export const NARROW_KEY = 'sk-narrow-444';

const CALLERS: Readonly<Record<string, ProxyCaller>> = {
  [AGENT_KEY]: { name: 'agent-key', sessionId: SESSION_ID, userId: 'user-1', models: null },
  [PLAIN_KEY]: { name: 'plain-key', sessionId: null, userId: null, models: null },
  [NARROW_KEY]: { name: 'narrow-key', sessionId: null, userId: null, models: ['other'] },
};

export const KEYS: KeyDirectory = { find: (key) => Promise.resolve(CALLERS[key] ?? null) };
export const SILENT_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };

export interface ProxyUnderTest {
  readonly proxy: Proxy;
  readonly spend: MemorySpendLog;
  readonly url: string;
  readonly spoolDir: string;
  readonly logged: string[];
  /** All rows after a flush, in order of start. */
  rows(): Promise<readonly SpendRow[]>;
}

export interface ProxySetup {
  readonly origin: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly models?: readonly unknown[];
  readonly settings?: Readonly<Record<string, unknown>>;
  /** `router_settings`. */
  readonly router?: Readonly<Record<string, unknown>>;
  /** A real store for spend, virtual keys and totals; without it spend is in memory and there are no keys. */
  readonly store?: Store;
  /** Epoch milliseconds; without it time grows by one with each call. */
  readonly now?: () => number;
  readonly spend?: MemorySpendLog;
  /** Budgets of runs; without it no run has one. */
  readonly budgets?: SpendBudgets;
  readonly spoolDir?: string;
}

/** The alias "coder" leads to model "prov/up" of the gateway. */
export function entryFor(origin: string, params: Readonly<Record<string, unknown>> = {}): object {
  const own = { model: 'openai/prov/up', api_base: `${origin}/v1`, api_key: GATEWAY_KEY };
  return { model_name: 'coder', [`${VENDOR}_params`]: { ...own, ...params } };
}

export function readConfig(
  raw: unknown,
  env: Record<string, string> = {},
): ReturnType<typeof parseProxyConfig> {
  return parseProxyConfig(raw, { PROXY_MASTER_KEY: MASTER_KEY, ...env }, { vendor: VENDOR });
}

export async function startProxy(setup: ProxySetup): Promise<ProxyUnderTest> {
  const { config, problems } = readConfig({
    model_list: setup.models ?? [entryFor(setup.origin, setup.params)],
    general_settings: setup.settings,
    router_settings: setup.router,
  });
  if (problems.some((problem: ConfigProblem) => problem.severity === 'error'))
    throw new Error(JSON.stringify(problems));
  const spend = setup.spend ?? new MemorySpendLog();
  const { store } = setup;
  const spoolDir = setup.spoolDir ?? path.join(tempDir(), 'spool');
  const logged: string[] = [];
  const keep = (fields: unknown, message: string): void =>
    void logged.push(JSON.stringify([message, fields]));
  let calls = 0;
  const proxy = createProxy({
    config,
    keys: KEYS,
    spend: store?.spend ?? spend,
    ...(store === undefined ? {} : { accounting: { keys: store.proxyKeys, accounts: store.accounts } }),
    ...(setup.budgets === undefined ? {} : { budgets: setup.budgets }),
    vendor: VENDOR,
    clock: { now: setup.now ?? (() => 1_000 + calls) },
    newId: () => `call-${String((calls += 1)).padStart(4, '0')}`,
    spoolDir,
    log: { info: keep, warn: keep, error: keep },
  });
  const address = await proxy.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => proxy.close(0));
  const url = 'port' in address ? `http://127.0.0.1:${address.port}` : '';
  const rows = async (): Promise<readonly SpendRow[]> => {
    await send({ url, path: '/spend/logs', method: 'GET', key: MASTER_KEY });
    return store === undefined ? [...spend.rows.values()] : store.spend.search({});
  };
  return { proxy, spend, url, spoolDir, logged, rows };
}

/** An empty store in memory, closed when the running test ends. */
export async function openTestStore(): Promise<Store> {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' });
  onTestFinished(() => store.close());
  return store;
}

export interface Sent {
  readonly url?: string;
  readonly socketPath?: string;
  readonly path?: string;
  readonly method?: string;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** The connection was cut before the reply was whole. */
  readonly isCut: boolean;
  json(): { error: { message: string; type: string; code: string; param: string | null } };
}

export const BODY = '{"model":"coder","messages":[]}';
export const STREAM_BODY = '{"model":"coder","messages":[],"stream":true}';

/** One raw request; by default a completion of the agent. */
export function send(sent: Sent): Promise<Received> {
  const key = sent.key === undefined ? AGENT_KEY : sent.key;
  const headers = { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...sent.headers };
  const signal = sent.signal === undefined ? {} : { signal: sent.signal };
  const options = { method: sent.method ?? 'POST', headers, agent: false as const, ...signal };
  const route = sent.path ?? '/v1/chat/completions';
  const { socketPath } = sent;
  const target = new URL(route, sent.url ?? 'http://socket');
  return new Promise((resolve, reject) => {
    const req = httpRequest(
      target,
      socketPath === undefined ? options : { ...options, socketPath },
      (res) => {
        const chunks: Buffer[] = [];
        const finish = (isCut: boolean): void => {
          const body = Buffer.concat(chunks).toString('utf8');
          const received = {
            status: res.statusCode ?? 0,
            headers: res.headers as Record<string, string>,
            body,
            isCut,
          };
          resolve({ ...received, json: () => JSON.parse(body) as ReturnType<Received['json']> });
        };
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('end', () => finish(false));
        res.on('error', () => finish(true));
      },
    );
    req.on('error', reject);
    req.end(sent.method === 'GET' ? undefined : (sent.body ?? BODY));
  });
}
