/** An enforced budget of a run: its further calls are refused once it is spent, and only those in flight exceed it. */
import { describe, expect, it } from 'vitest';
import { ParleyError } from '../../core/parley-error.ts';
import { nanoUsd } from '../../core/money/money.ts';
import type { SpendBudgets } from '../../ports/spend-budgets.ts';
import { MemorySpendLog } from './memory-spend-log.ts';
import { PLAIN_KEY, send, SESSION_ID, startProxy, STREAM_BODY, type ProxySetup } from './proxy-under-test.ts';
import { answerJson, answerStream, REPLY, startStubGateway, STREAM } from './stub-gateway.ts';

/** 10 tokens of the prompt, 3 of the completion: 16,000 nano-USD a call. */
const PRICES = { input_cost_per_token: '0.000001', output_cost_per_token: '0.000002' };
const CALL_COST = 16_000;
const RUN = 'run-1';

interface Ledger extends SpendBudgets {
  limit: number | null;
  isAway: boolean;
}

/** The agent's conversation belongs to the run; what was spent is read from the rows. */
function ledger(spend: MemorySpendLog, limit: number | null): Ledger {
  const ask = <T>(value: T): Promise<T> =>
    own.isAway ? Promise.reject(new ParleyError('store_unavailable', 'it is away')) : Promise.resolve(value);
  const own: Ledger = {
    limit,
    isAway: false,
    runOf: (id) => ask(id === SESSION_ID ? RUN : null),
    limitOf: (id) => ask(id === RUN && own.limit !== null ? nanoUsd(own.limit) : null),
    spentBy: () => ask(nanoUsd(spentIn(spend))),
  };
  return own;
}

function spentIn(spend: MemorySpendLog): number {
  return [...spend.rows.values()].reduce((sum, row) => sum + (row.cost ?? 0), 0);
}

async function startLimited(limit: number | null, setup: Partial<ProxySetup> = {}) {
  const gateway = await startStubGateway();
  const spend = setup.spend ?? new MemorySpendLog();
  const budgets = ledger(spend, limit);
  const proxy = await startProxy({ origin: gateway.origin, params: PRICES, spend, budgets, ...setup });
  return { ...proxy, gateway, spend, budgets };
}

describe('the budget of a run', () => {
  it('refuses every further call with 402 in the envelope, streamed or not, and sends none of them', async () => {
    const { url, gateway, rows } = await startLimited(3 * CALL_COST);
    for (let i = 0; i < 3; i += 1) expect((await send({ url })).status).toBe(200);
    for (const body of [undefined, STREAM_BODY]) {
      const refused = await send({ url, ...(body === undefined ? {} : { body }) });
      expect(refused.status).toBe(402);
      const { error } = refused.json();
      expect(error).toMatchObject({ code: 'run_budget_exceeded', type: 'insufficient_quota', param: null });
      expect(error.message).toContain('the budget of the run is used up (budget_exceeded)');
    }
    expect(gateway.seen).toHaveLength(3);
    expect((await rows()).map((row) => row.cost)).toEqual([CALL_COST, CALL_COST, CALL_COST]);
  });

  it('lets a call begin while anything is left, and counts what a stream cost', async () => {
    const { url, gateway, rows } = await startLimited(1);
    gateway.answer = answerStream([STREAM]);
    expect((await send({ url, body: STREAM_BODY })).status).toBe(200);
    expect((await send({ url })).status).toBe(402);
    expect((await rows()).map((row) => row.cost)).toEqual([11_000]);
  });

  it.each([1, 4, 16])(
    'is exceeded by no more than the calls in flight, with %i callers side by side',
    async (callers) => {
      const limit = 20 * CALL_COST;
      const { url, rows, gateway } = await startLimited(limit);
      let answered = 0;
      const caller = async (): Promise<void> => {
        for (;;) {
          const { status } = await send({ url });
          if (status === 402) return;
          expect(status).toBe(200);
          answered += 1;
        }
      };
      await Promise.all(Array.from({ length: callers }, caller));
      const spent = (await rows()).reduce((sum, row) => sum + (row.cost ?? 0), 0);
      expect(spent).toBeGreaterThanOrEqual(limit);
      // The one that reached the limit may have had all the others beside it.
      expect(spent).toBeLessThan(limit + callers * CALL_COST);
      expect(spent).toBe(answered * CALL_COST);
      expect(gateway.seen).toHaveLength(answered);
    },
  );

  it('counts what was spent before this process began', async () => {
    const spend = new MemorySpendLog();
    const first = await startLimited(2 * CALL_COST, { spend });
    await send({ url: first.url });
    await first.proxy.close(0);
    // Ids of calls begin anew with each proxy under test.
    const [row] = [...spend.rows.values()];
    if (row !== undefined) spend.rows.set('earlier', { ...row, callId: 'earlier' });
    spend.rows.delete(row?.callId ?? '');
    const second = await startLimited(2 * CALL_COST, { spend });
    expect((await send({ url: second.url })).status).toBe(200);
    expect((await send({ url: second.url })).status).toBe(402);
  });

  it('that is raised lets calls go on within a second, and each failed try counts', async () => {
    let now = 1_000_000;
    const { url, budgets, gateway, rows } = await startLimited(CALL_COST, { now: () => now });
    expect((await send({ url })).status).toBe(200);
    expect((await send({ url })).status).toBe(402);
    budgets.limit = 2 * CALL_COST;
    now += 1_000;
    gateway.answer = answerJson(
      500,
      '{"error":{"message":"no"},"usage":{"prompt_tokens":16,"completion_tokens":0}}',
    );
    expect((await send({ url })).status).toBe(500);
    expect((await rows()).at(-1)).toMatchObject({ state: 'failed', cost: CALL_COST });
    expect((await send({ url })).status).toBe(402);
  });

  it('binds no other conversation, and no run whose budget is not enforced', async () => {
    const { url } = await startLimited(0);
    expect((await send({ url })).status).toBe(402);
    expect((await send({ url, key: PLAIN_KEY })).status).toBe(200);
    const named = { 'x-proxyvendor-session-id': SESSION_ID };
    expect((await send({ url, key: PLAIN_KEY, headers: named })).status).toBe(402);
    const free = await startLimited(null);
    expect((await send({ url: free.url })).status).toBe(200);
  });

  it('that cannot be read stops the call with 503 and forgets nothing', async () => {
    const { url, budgets, gateway } = await startLimited(CALL_COST);
    budgets.isAway = true;
    const refused = await send({ url });
    expect([refused.status, refused.json().error.code]).toEqual([503, 'store_unavailable']);
    budgets.isAway = false;
    gateway.answer = answerJson(200, REPLY);
    expect((await send({ url })).status).toBe(200);
    expect((await send({ url })).status).toBe(402);
  });
});
