/**
 * Proxies as they are shipped, over one PostgreSQL, before the scripted gateway.
 * Owns their start in one folder, callers that take turns among them, and the two books: spend rows and the bill.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { SpendRow } from '../../core/money/spend.ts';
import { endProcess } from '../helpers/end-process.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import type { ProxyProcess } from './proxy-process.ts';
import { startProxyProcess } from './proxy-process.ts';
import { MASTER_KEY, send, type Received } from './proxy-under-test.ts';

/** 100 tokens in and 50 out, at these prices a cent. */
export const CALL_NANO_USD = 10_000_000;
const PRICE = { input: '50', output: '100' };
const SCRIPT = `kind: gateway-script
version: 1
keys:
  - { key: os.environ/TEST_GATEWAY_KEY, name: proxies, admin: true }
models:
  vendor/quick: { input: "${PRICE.input}", output: "${PRICE.output}" }
  vendor/slow: { input: "${PRICE.input}", output: "${PRICE.output}" }
latency_ms: 20
scripts:
  - name: slow
    when: { contains: slowly }
    turns: []
    finally: { say: Done., usage: { prompt: 100, completion: 50 }, latency_ms: 700 }
  - name: anything
    turns: []
    finally: { say: Done., usage: { prompt: 100, completion: 50 } }
`;

export interface SharedGround {
  readonly folder: string;
  start(env?: Readonly<Record<string, string>>): Promise<ProxyProcess>;
  /** Of `vendor/quick`, as `POST /model/new` takes it. */
  entry(name: string): object;
  /** Ids of responses in the order in which they were billed, with their costs in nano-USD. */
  bill(): Promise<ReadonlyMap<string, number>>;
}

export async function openGround(database: string, settings: object = {}): Promise<SharedGround> {
  const folder = tempDir();
  const env = { TEST_DATABASE: database, TEST_GATEWAY_KEY: 'sk-shared-gateway' };
  const url = await startGateway(folder, env);
  const entry = (name: string): object => ({
    model_name: name,
    proxyvendor_params: {
      ...{ model: 'openai/vendor/quick', api_base: `${url}/v1`, api_key: 'os.environ/TEST_GATEWAY_KEY' },
      ...{ input_cost_per_token: '0.00005', output_cost_per_token: '0.0001', max_output_tokens: 100 },
    },
  });
  const config = {
    store: { kind: 'postgres', url: 'os.environ/TEST_DATABASE', path: 'data' },
    proxy_config: { model_list: [entry('coder')], general_settings: settings },
  };
  writeFileSync(path.join(folder, 'parley.yaml'), JSON.stringify(config));
  return {
    folder,
    entry,
    start: (own = {}) => startProxyProcess(folder, { ...env, ...own }),
    async bill() {
      const reply = await fetch(`${url}/spend/export`, {
        headers: { authorization: `Bearer ${env.TEST_GATEWAY_KEY}` },
      });
      const rows = (await reply.text())
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { readonly request_id: string; readonly cost_usd: string });
      return new Map(rows.map((row) => [row.request_id, Math.round(Number(row.cost_usd) * 1e9)]));
    },
  };
}

async function startGateway(folder: string, env: Readonly<Record<string, string>>): Promise<string> {
  const script = path.join(folder, 'gateway.yaml');
  writeFileSync(script, SCRIPT);
  const program = path.resolve(import.meta.dirname, '../../dist/scripted-gateway.js');
  const child = spawn(process.execPath, [program, script], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => endProcess(child));
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return (JSON.parse(line) as { readonly url: string }).url;
}

/** A key of the proxies, made by one of them. */
export async function makeKey(url: string, limits: object): Promise<string> {
  const made = await send({ url, path: '/key/generate', key: MASTER_KEY, body: JSON.stringify(limits) });
  return (JSON.parse(made.body) as { readonly key: string }).key;
}

export function ask(url: string, key: string, text = 'hello'): Promise<Received> {
  // It says itself how much it may be answered with: the last one is refused, and not given what is left.
  const body = { model: 'coder', max_tokens: 100, messages: [{ role: 'user', content: text }] };
  return send({ url, key, body: JSON.stringify(body) });
}

/**
 * So many callers side by side, each taking turns among the proxies, until `isEnough`. A proxy that does not answer is
 * passed over. Returns how often each status came; 0 for no answer.
 */
export async function alternate(
  urls: readonly string[],
  key: string,
  options: { readonly callers: number; readonly isEnough: (status: number, calls: number) => boolean },
): Promise<ReadonlyMap<number, number>> {
  const seen = new Map<number, number>();
  let [calls, isOver] = [0, false];
  const caller = async (first: number): Promise<void> => {
    for (let turn = first; !isOver; turn += 1) {
      const url = urls[turn % urls.length] ?? '';
      const status = await ask(url, key).then(
        (reply) => (reply.isCut ? 0 : reply.status),
        () => 0,
      );
      calls += 1;
      seen.set(status, (seen.get(status) ?? 0) + 1);
      isOver ||= options.isEnough(status, calls);
    }
  };
  await Promise.all(Array.from({ length: options.callers }, (_, i) => caller(i)));
  return seen;
}

/** What the rows of a key say was spent, with what budgets count for those whose cost is unknown. */
export function spentBy(rows: readonly SpendRow[]): number {
  return rows.reduce((sum, { cost, held }) => sum + (cost ?? held ?? 0), 0);
}
