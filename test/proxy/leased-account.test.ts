/**
 * A limit that several proxies share, whatever order their exchanges and calls come in: all that is held and used is
 * never more than the limit.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decideLease } from '../../core/money/lease.ts';
import type { LeaseAnswer, LeaseExchange } from '../../ports/spend-leases.ts';
import type { BudgetHold } from '../../ports/spend-reservations.ts';
import { LeasedAccount } from '../../proxy/spend/leased-account.ts';

const PROXIES = 3;
const CALLS = 120;
const ACCOUNT = { unit: 'requests', owner: 'k', windowFrom: 0 } as const;

/** The row of the limit and the shares, changed by one exchange at a time. */
class Row {
  readonly #limit: number;
  readonly #granted = new Map<string, number>();
  #spent = 0;
  #waiter = '';

  constructor(limit: number) {
    this.#limit = limit;
  }

  exchange(asked: LeaseExchange): LeaseAnswer {
    const { holder, charged } = asked;
    const others = [...this.#granted].reduce((sum, [name, own]) => sum + (name === holder ? 0 : own), 0);
    this.#spent += charged;
    const isWanted = this.#waiter !== '' && this.#waiter !== holder;
    const standing = { limit: this.#limit, spent: this.#spent, others };
    const { granted, isAnswered } = decideLease(standing, { ...asked, isBehind: isWanted });
    this.#granted.set(holder, granted);
    if (isAnswered && this.#waiter === holder) this.#waiter = '';
    if (!isAnswered && this.#waiter === '') this.#waiter = holder;
    return { kind: 'standing', granted, spent: this.#spent, others, isWanted };
  }
}

const ONE = () => ({ atMostNanoUsd: 1, isOwnBound: true });

it('is not exceeded by a call that begins while what was kept for it is given back', async () => {
  const LIMIT = 32;
  const row = new Row(LIMIT);
  const gates: (() => void)[] = [];
  let isSlow = false;
  const open = (holder: string): LeasedAccount => {
    const exchange = async (asked: LeaseExchange): Promise<LeaseAnswer> => {
      if (isSlow && holder === 'a') await new Promise<void>((resolve) => gates.push(resolve));
      return row.exchange(asked);
    };
    const ground = { leases: { exchange }, holder: () => holder, isHeld: () => true, lost: () => undefined };
    const earlier = () => Promise.resolve(0);
    const limits = { account: ACCOUNT, limit: LIMIT, earlier, isPatient: false };
    return new LeasedAccount({ ground: { ...ground, now: () => 0 }, ...limits });
  };
  let used = 0;
  const call = async (account: LeasedAccount): Promise<void> => {
    const first = account.reserve(ONE);
    const answer = first.kind === 'waiting' ? await first.answer : first;
    if (answer.kind !== 'held') return;
    used += 1;
    account.settle(answer.hold, 1);
  };
  const [a, b] = [open('a'), open('b')];
  await call(a);
  // The other one uses all that is left, and stands in line for what the first has kept.
  for (let calls = 0; calls < LIMIT; calls += 1) await call(b);
  expect(used).toBe(LIMIT - 2);
  isSlow = true;
  const reported = a.report();
  await call(a);
  isSlow = false;
  for (const go of gates) go();
  await reported;
  for (let calls = 0; calls < LIMIT; calls += 1) await Promise.all([call(b), call(a)]);
  expect(used).toBe(LIMIT);
});

it('is never exceeded, whenever calls begin and end and whenever the store answers', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 48 }),
      fc.array(fc.nat(PROXIES - 1), { minLength: 20, maxLength: CALLS }),
      async (scheduler, limit, callers) => {
        const row = new Row(limit);
        let [used, worst] = [0, 0];
        const accounts = Array.from({ length: PROXIES }, (_, at) => {
          const holder = `proxy-${at}`;
          const leases = {
            exchange: async (asked: LeaseExchange): Promise<LeaseAnswer> => {
              await scheduler.schedule(Promise.resolve(), 'asked');
              const answer = row.exchange(asked);
              await scheduler.schedule(Promise.resolve(), 'answered');
              return answer;
            },
          };
          const ground = {
            leases,
            holder: () => holder,
            isHeld: () => true,
            lost: () => undefined,
            now: () => 0,
          };
          const earlier = () => Promise.resolve(0);
          return new LeasedAccount({ ground, account: ACCOUNT, limit, earlier, isPatient: false });
        });
        const call = async (account: LeasedAccount | undefined): Promise<void> => {
          const first = account?.reserve(() => ({ atMostNanoUsd: 1, isOwnBound: true }));
          const answer = first?.kind === 'waiting' ? await first.answer : first;
          if (answer?.kind !== 'held') return;
          const hold: BudgetHold = answer.hold;
          used += 1;
          worst = Math.max(worst, used);
          await scheduler.schedule(Promise.resolve(), 'ended');
          account?.settle(hold, 1);
        };
        const calls = callers.map(async (at, index) => {
          await scheduler.schedule(Promise.resolve(), 'begun');
          // As every 250 ms; what is kept for calls to come is used or given back.
          if (index % 2 === 0) void accounts[(at + 1) % PROXIES]?.report();
          await call(accounts[at]);
        });
        await scheduler.waitFor(Promise.all(calls));
        expect(worst).toBeLessThanOrEqual(limit);
      },
    ),
    { numRuns: 400 },
  );
});
