/** Fifty calls at once hold what they may cost, and a budget is exceeded by nothing that could be held (D30). */
import { describe, expect, it } from 'vitest';
import { nanoUsd } from '../../core/money/money.ts';
import type { SpendBudgets } from '../../ports/spend-budgets.ts';
import { BudgetAccount } from '../../proxy/spend/budget-account.ts';
import { CallMoney } from '../../proxy/spend/call-money.ts';
import { RESERVATIONS_WAITING_MAX } from '../../proxy/limits.ts';
import { MemorySpendLog } from './memory-spend-log.ts';
import { send, SESSION_ID, startProxy } from './proxy-under-test.ts';
import { answerJson, startStubGateway, type Answer } from './stub-gateway.ts';

const PRICES = { input_cost_per_token: '0.000001', output_cost_per_token: '0.000002' };
/** 1,000 tokens in, which the gateway adds to, and 500 out. */
const COST = 2_000_000;
const REPLY = '{"id":"r","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":500}}';
const AT_ONCE = 50;

function bodyOf(fields: object): string {
  return JSON.stringify({ model: 'coder', messages: [], ...fields });
}

/** Answers each call by its own turn of the event loop, and counts how many were there at once. */
function counted(answer: Answer): { readonly answer: Answer; most: number } {
  let present = 0;
  const own = {
    most: 0,
    answer: ((res, ...rest) => {
      present += 1;
      own.most = Math.max(own.most, present);
      setImmediate(() => {
        present -= 1;
        answer(res, ...rest);
      });
    }) as Answer,
  };
  return own;
}

async function startLimited(limit: number, params: object = {}) {
  const gateway = await startStubGateway();
  const spend = new MemorySpendLog();
  const budgets: SpendBudgets = {
    runOf: (id) => Promise.resolve(id === SESSION_ID ? 'run' : null),
    limitOf: () => Promise.resolve(nanoUsd(limit)),
    spentBy: () =>
      Promise.resolve(
        nanoUsd([...spend.rows.values()].reduce((sum, row) => sum + (row.cost ?? row.held ?? 0), 0)),
      ),
  };
  const proxy = await startProxy({
    origin: gateway.origin,
    params: { ...PRICES, ...params },
    spend,
    budgets,
  });
  return { ...proxy, gateway, spend };
}

async function fifty(url: string, body: string): Promise<readonly number[]> {
  const all = await Promise.all(Array.from({ length: AT_ONCE }, () => send({ url, body })));
  return all.map(({ status }) => status);
}

describe('an enforced budget', () => {
  it('is never exceeded by calls that say how much they may answer, and lets those go side by side', async () => {
    const { url, gateway, rows } = await startLimited(20 * COST);
    const seen = counted(answerJson(200, REPLY));
    gateway.answer = seen.answer;
    const statuses = await fifty(url, bodyOf({ max_tokens: 500 }));
    const spent = (await rows()).reduce((sum, row) => sum + (row.cost ?? 0), 0);
    expect(spent).toBe(20 * COST);
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 402)).toHaveLength(30);
    expect(seen.most).toBeGreaterThan(1);
  });

  it('has calls without a bound go one by one, and those of a gateway that keeps no limit', async () => {
    for (const fields of [{}, { max_tokens: 10 }]) {
      const { url, gateway, rows } = await startLimited(3 * COST);
      const seen = counted(answerJson(200, REPLY));
      gateway.answer = seen.answer;
      await fifty(url, bodyOf(fields));
      const spent = (await rows()).reduce((sum, row) => sum + (row.cost ?? 0), 0);
      expect(spent).toBe(3 * COST);
      expect(seen.most).toBe(1);
    }
  });

  it('takes the bound of the model where the call has none, and lets a last call have what is left', async () => {
    const { url, gateway, rows } = await startLimited(3.5 * COST, { max_output_tokens: 500 });
    gateway.answer = answerJson(200, REPLY);
    await fifty(url, bodyOf({}));
    const spent = (await rows()).reduce((sum, row) => sum + (row.cost ?? 0), 0);
    expect(spent).toBe(4 * COST);
  });

  it('refuses a call that may cost more than is left, and says both amounts', async () => {
    const { url, gateway } = await startLimited(COST);
    gateway.answer = answerJson(200, REPLY.replace('1000', '10').replace('500', '1'));
    expect((await send({ url, body: bodyOf({ max_tokens: 500 }) })).status).toBe(200);
    const refused = await send({ url, body: bodyOf({ max_tokens: 1_000_000, n: 2 }) });
    expect(refused.status).toBe(402);
    expect(refused.json().error.message).toMatch(
      /it may cost \$4\.0000.*\$0\.001988 of the budget of the run is left/,
    );
  });

  it('charges what was held for a call whose cost nobody says, and nothing for one that was refused', async () => {
    const { url, gateway, rows } = await startLimited(5 * COST);
    gateway.answer = answerJson(429, '{"error":{"message":"slow down"}}');
    expect((await send({ url, body: bodyOf({}) })).status).toBe(429);
    gateway.answer = answerJson(200, '{"id":"r","choices":[]}');
    expect((await send({ url, body: bodyOf({}) })).status).toBe(200);
    expect((await send({ url, body: bodyOf({}) })).status).toBe(402);
    expect((await rows()).map(({ cost, held }) => [cost, held])).toEqual([
      [null, 0],
      [null, 5 * COST],
    ]);
  });

  it('counts for a call that is given up no more than an answer may have, also where nobody says how much', async () => {
    const { url, gateway, rows } = await startLimited(5_000_000_000);
    const givesUp = async (body: string): Promise<void> => {
      const leaving = new AbortController();
      gateway.answer = () => leaving.abort();
      await send({ url, body, signal: leaving.signal }).catch(() => null);
      const { length } = await rows();
      await expect.poll(async () => (await rows())[length - 1]?.state).toBe('aborted');
    };
    const assumed = (body: string): number => 262_144 * 2_000 + Buffer.byteLength(body) * 1_000;
    await givesUp(bodyOf({}));
    // No reply has shown yet that the gateway keeps the bound that a call names.
    await givesUp(bodyOf({ max_tokens: 10 }));
    gateway.answer = answerJson(200, REPLY.replace('1000', '10').replace('500', '10'));
    expect((await send({ url, body: bodyOf({ max_tokens: 10 }) })).status).toBe(200);
    await givesUp(bodyOf({ max_tokens: 10 }));
    await givesUp(bodyOf({}));
    gateway.answer = answerJson(200, REPLY.replace('500', '262145'));
    expect((await send({ url, body: bodyOf({}) })).status).toBe(200);
    // One that answers with more than was assumed cannot be bounded any more.
    await givesUp(bodyOf({}));
    const [first, second, , known, third, , last] = (await rows()).map(({ held }) => held ?? 0);
    expect([first, second]).toEqual([assumed(bodyOf({})), assumed(bodyOf({ max_tokens: 10 }))]);
    expect(known).toBeLessThan(1_000_000);
    expect(third).toBe(assumed(bodyOf({})));
    expect(last).toBeGreaterThan(2_000_000_000);
  });

  it('lets go who waits when a caller leaves', async () => {
    const { url, gateway } = await startLimited(5 * COST);
    let release: () => void = () => undefined;
    const arrived = new Promise<void>((here) => {
      gateway.answer = (res, ...rest) => {
        release = () => answerJson(200, REPLY)(res, ...rest);
        here();
      };
    });
    const first = send({ url, body: bodyOf({}) });
    await arrived;
    gateway.answer = answerJson(200, REPLY);
    const leaving = new AbortController();
    const second = send({ url, body: bodyOf({}), signal: leaving.signal }).catch(() => null);
    const third = send({ url, body: bodyOf({}) });
    leaving.abort();
    await second;
    release();
    expect([(await first).status, (await third).status]).toEqual([200, 200]);
  });
});

describe('the queue of a budget', () => {
  it('is bounded: what comes beyond is told to come again', () => {
    const account = new BudgetAccount(100, 0);
    const ask = () => ({ atMostNanoUsd: 100, isOwnBound: true });
    expect(account.reserve(ask).kind).toBe('held');
    const waits = Array.from({ length: RESERVATIONS_WAITING_MAX }, () => account.reserve(ask));
    const money = new CallMoney([{ reservations: account, owner: { run: 'run-1' } }]);
    expect(money.reserve(ask)).toMatchObject({ code: 'budget_held', status: 429, retryAfterS: 5 });
    for (const wait of waits) if (wait.kind === 'waiting') wait.cancel();
    expect(account.isInUse).toBe(true);
  });
});
