/** Two proxies over one store in one process: budgets of runs, and a store that is away. */
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nanoUsd } from '../../core/money/money.ts';
import type { SpendLeases } from '../../ports/spend-leases.ts';
import { PeerLife } from '../../proxy/peers/peer-life.ts';
import { createProxy } from '../../proxy/proxy.ts';
import { sealKeyOfSecret } from '../../store/access/seal-key.ts';
import type { Store } from '../../store/open-store.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import {
  BODY,
  entryFor,
  KEYS,
  openTestStore,
  readConfig,
  send,
  SILENT_LOG,
  VENDOR,
} from './proxy-under-test.ts';
import { answerJson, startStubGateway } from './stub-gateway.ts';

/** 10 tokens in and 10 out, at a dollar for a thousand: two cents. */
const REPLY = JSON.stringify({
  ...{ id: 'r', object: 'chat.completion', model: 'up' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
});
const CALL_NANO_USD = 20_000_000;
const PARAMS = { input_cost_per_token: '0.001', output_cost_per_token: '0.001', max_output_tokens: 20 };

interface Beside {
  readonly url: string;
  close(): Promise<void>;
}

async function startBeside(
  store: Store,
  own: {
    readonly name: string;
    readonly origin: string;
    readonly limit: number;
    readonly leases?: SpendLeases;
  },
): Promise<Beside> {
  let calls = 0;
  const proxy = createProxy({
    config: readConfig({ model_list: [entryFor(own.origin, PARAMS)] }).config,
    keys: KEYS,
    spend: store.spend,
    accounting: { keys: store.proxyKeys, accounts: store.accounts },
    budgets: {
      runOf: () => Promise.resolve('run-1'),
      limitOf: () => Promise.resolve(nanoUsd(own.limit)),
      spentBy: () => Promise.resolve(nanoUsd(0)),
    },
    sharing: {
      life: new PeerLife({
        ...{ peers: store.proxyPeers, leases: own.leases ?? store.leases, log: SILENT_LOG },
        ...{ clock: { now: () => Date.now() }, newId: () => `${own.name}-${(calls += 1)}` },
        ...{ facts: { kind: 'proxy', name: own.name }, duties: ['spend_totals'] },
      }),
      vault: store.vault(sealKeyOfSecret('the same everywhere')),
    },
    vendor: VENDOR,
    clock: { now: () => Date.now() },
    newId: () => `${own.name}-${(calls += 1)}`,
    spoolDir: path.join(tempDir(), 'spool'),
    log: SILENT_LOG,
  });
  const address = await proxy.listen({ host: '127.0.0.1', port: 0 });
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => (closed ??= proxy.close(0));
  onTestFinished(close);
  return { url: 'port' in address ? `http://127.0.0.1:${address.port}` : '', close };
}

describe('proxies that serve one run', () => {
  it('spend its budget once, and say of every row whose it is', async () => {
    const [store, gateway] = [await openTestStore(), await startStubGateway()];
    gateway.answer = answerJson(200, REPLY);
    const own = { origin: gateway.origin, limit: 10 * CALL_NANO_USD };
    const both = [
      await startBeside(store, { ...own, name: 'a' }),
      await startBeside(store, { ...own, name: 'b' }),
    ];
    const body = `{"max_tokens":20,${BODY.slice(1)}`;
    let refused = 0;
    const caller = async (first: number): Promise<void> => {
      for (let turn = first; refused === 0; turn += 1) {
        const { status } = await send({ url: both[turn % 2]?.url ?? '', body });
        if (status !== 200) refused = status;
      }
    };
    await Promise.all([0, 1, 2, 3].map(caller));
    expect(refused).toBe(402);
    for (const proxy of both) await proxy.close();
    const rows = await store.spend.search({});
    const spent = rows.reduce((sum, { cost }) => sum + (cost ?? 0), 0);
    expect([spent, gateway.seen.length]).toEqual([rows.length * CALL_NANO_USD, rows.length]);
    expect(spent).toBeLessThanOrEqual(own.limit);
    expect(spent).toBeGreaterThan(own.limit - 5 * CALL_NANO_USD);
    expect(new Set(rows.map(({ runId }) => runId))).toEqual(new Set(['run-1']));
    expect(rows.every(({ proxyId }) => /^[ab]-/.test(proxyId ?? ''))).toBe(true);
    const account = { unit: 'run_nano_usd', owner: 'run-1', windowFrom: 0 } as const;
    await store.proxyPeers.join('watcher', 60_000, { kind: 'proxy', name: 'watcher' });
    const standing = await store.leases.exchange({
      ...{ account, holder: 'watcher', limit: own.limit, earlier: null, charged: 0, held: 0, inFlight: 0 },
      ...{ least: 0, isOwnBound: false, surplus: 0 },
    });
    expect(standing).toMatchObject({ spent, others: 0 });
  });

  it('send nothing while nobody can say what is left', async () => {
    const [store, gateway] = [await openTestStore(), await startStubGateway()];
    gateway.answer = answerJson(200, REPLY);
    const leases: SpendLeases = {
      exchange: () => Promise.reject(new Error('Cannot reach the store: it is away')),
      settle: () => Promise.resolve(),
    };
    const proxy = await startBeside(store, { name: 'a', origin: gateway.origin, limit: 1e9, leases });
    const reply = await send({ url: proxy.url });
    expect([reply.status, reply.json().error.code, gateway.seen.length]).toEqual([
      503,
      'store_unavailable',
      0,
    ]);
  });
});
