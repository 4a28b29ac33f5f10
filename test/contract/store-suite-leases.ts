/**
 * Limits that several proxies share, and what one says of another.
 * Owns no dialect; what is divided how is tested as a table in test/core/lease.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { nanoUsd } from '../../core/money/money.ts';
import type { LeaseAnswer, LeaseExchange } from '../../ports/spend-leases.ts';
import type { Store } from '../../store/open-store.ts';
import type { OpenEmptyStore } from './store-harness.ts';
import { spendRow } from './store-rows.ts';

/** No lease ends by itself in a test. */
const LEASE_MS = 600_000;
const FACTS = { kind: 'worker', name: 'w' } as const;
const MONEY = { unit: 'key_nano_usd', owner: 'k', windowFrom: 0 } as const;

function ask(holder: string, changes: Partial<LeaseExchange> = {}): LeaseExchange {
  return {
    ...{ account: MONEY, holder, limit: 1_000, earlier: null, charged: 0, held: 0, inFlight: 0 },
    ...{ least: 0, isOwnBound: false, surplus: 0 },
    ...changes,
  };
}

async function joined(open: OpenEmptyStore, ...ids: readonly string[]): Promise<Store> {
  const store = await open();
  for (const id of ids) await store.proxyPeers.join(id, LEASE_MS, FACTS);
  return store;
}

/** The numbers of an answer. */
function numbers(answer: LeaseAnswer): readonly unknown[] {
  return answer.kind === 'standing' ? [answer.granted, answer.spent, answer.others] : [answer.kind];
}

export function leaseSuite(open: OpenEmptyStore): void {
  describe('limits that proxies share', () => {
    it('asks once what was used before, and then divides what is left', async () => {
      const { leases } = await joined(open, 'a', 'b');
      expect(numbers(await leases.exchange(ask('a', { least: 100 })))).toEqual(['unknown']);
      expect(numbers(await leases.exchange(ask('a', { least: 100, surplus: 50, earlier: 400 })))).toEqual([
        150, 400, 0,
      ]);
      // The sum of a second proxy comes too late.
      expect(numbers(await leases.exchange(ask('b', { least: 200, earlier: 0 })))).toEqual([200, 400, 150]);
      expect(numbers(await leases.exchange(ask('a', { charged: 120 })))).toEqual([0, 520, 200]);
    });

    it('never gives out more than the limit, however many ask at once', async () => {
      const ids = Array.from({ length: 8 }, (_, i) => `p${i}`);
      const { leases } = await joined(open, ...ids, 'watcher');
      await leases.exchange(ask('watcher', { earlier: 0 }));
      const answers = await Promise.all(
        ids.map((id) => leases.exchange(ask(id, { least: 90, surplus: 60 }))),
      );
      const given = answers.map((answer) => (answer.kind === 'standing' ? answer.granted : Number.NaN));
      expect(given.filter((amount) => amount === 150)).toHaveLength(6);
      const sum = given.reduce((all, amount) => all + amount, 0);
      expect(sum).toBeLessThanOrEqual(1_000);
      expect(numbers(await leases.exchange(ask('watcher')))).toEqual([0, 0, sum]);
    });

    it('keeps the first who waits in front, and takes from others what they do not hold', async () => {
      const { leases } = await joined(open, 'a', 'b', 'c');
      await leases.exchange(ask('a', { least: 600, surplus: 300, earlier: 0 }));
      expect(numbers(await leases.exchange(ask('b', { least: 500 })))).toEqual([0, 0, 900]);
      // Another is behind, although there would be room for it.
      expect(await leases.exchange(ask('c', { least: 50 }))).toMatchObject({ granted: 0, isWanted: true });
      expect(await leases.exchange(ask('a', { held: 300, surplus: 300 }))).toMatchObject({
        granted: 300,
        isWanted: true,
      });
      expect(numbers(await leases.exchange(ask('b', { least: 500 })))).toEqual([500, 0, 300]);
      expect(await leases.exchange(ask('c', { least: 50 }))).toMatchObject({ granted: 50, isWanted: false });
    });

    it('gives all that is left to a call that cannot be bounded, once nobody else has any of it', async () => {
      const { leases } = await joined(open, 'a', 'b');
      await leases.exchange(ask('a', { least: 10, earlier: 100 }));
      expect(numbers(await leases.exchange(ask('b', { least: null })))).toEqual([0, 100, 10]);
      await leases.exchange(ask('a', { charged: 10 }));
      expect(numbers(await leases.exchange(ask('b', { least: null })))).toEqual([890, 110, 0]);
      expect(numbers(await leases.exchange(ask('a', { least: 1 })))).toEqual([0, 110, 890]);
    });

    it('keeps accounts, windows and units apart', async () => {
      const { leases } = await joined(open, 'a');
      await leases.exchange(ask('a', { charged: 7, earlier: 0 }));
      const others = [
        { ...MONEY, windowFrom: 1 },
        { ...MONEY, owner: "k' or 1=1" },
        { ...MONEY, unit: 'requests' as const },
      ];
      for (const account of others)
        expect(numbers(await leases.exchange(ask('a', { account })))).toEqual(['unknown']);
    });
  });

  describe('a proxy among others', () => {
    it('knows whether it is the first, and hears that something was changed', async () => {
      const { proxyPeers } = await open();
      expect(await proxyPeers.join('a', LEASE_MS, FACTS)).toBe(true);
      expect(await proxyPeers.join('b', LEASE_MS, FACTS)).toBe(false);
      const before = await proxyPeers.beat('a', LEASE_MS, []);
      await proxyPeers.announce();
      await proxyPeers.announce();
      const after = await proxyPeers.beat('a', LEASE_MS, []);
      expect([before.expired, before.isKnown, after.revision - before.revision]).toEqual([[], true, 2]);
    });

    it('is dead once its lease is over: its share goes back, and its rows say what it used', async () => {
      const { proxyPeers, leases, spend } = await joined(open, 'a', 'b');
      const own = { keyName: 'k', startedAt: 10 };
      await leases.exchange(ask('a', { least: 500, earlier: 0 }));
      // Of three calls it has reported one; one more is in the store, and one is still open there.
      await leases.exchange(ask('a', { charged: 100, held: 300, inFlight: 2 }));
      await spend.write([
        spendRow('told', { ...own, proxyId: 'a', cost: nanoUsd(100) }),
        spendRow('ended', { ...own, proxyId: 'a', cost: nanoUsd(30) }),
        spendRow('open', { ...own, proxyId: 'a', state: 'open', cost: null, held: nanoUsd(200) }),
        spendRow('of-b', { ...own, proxyId: 'b', state: 'open', cost: null, held: nanoUsd(200) }),
        spendRow('elsewhere', { ...own, keyName: 'other', proxyId: 'a', cost: nanoUsd(5) }),
      ]);
      await proxyPeers.join('a', -1, FACTS);
      expect((await proxyPeers.beat('b', LEASE_MS, [])).expired).toEqual(['a']);
      await proxyPeers.retire('a', 99);
      await proxyPeers.retire('a', 100);
      expect(numbers(await leases.exchange(ask('b')))).toEqual([0, 330, 0]);
      const states = new Map((await spend.search({})).map((row) => [row.callId, [row.state, row.endedAt]]));
      expect([states.get('open'), states.get('of-b')?.[0]]).toEqual([['interrupted', 99], 'open']);
      // What it reports itself from then on counts for nothing.
      expect(numbers(await leases.exchange(ask('a', { charged: 50, least: 1 })))).toEqual(['lost']);
      expect((await proxyPeers.beat('a', LEASE_MS, [])).isKnown).toBe(false);
      // Its spool is found: the open call had ended, and one more is known.
      await spend.write([
        spendRow('open', { ...own, proxyId: 'a', cost: nanoUsd(20) }),
        spendRow('late', { ...own, proxyId: 'a', cost: nanoUsd(4) }),
      ]);
      await leases.settle('a');
      await leases.settle('a');
      expect(numbers(await leases.exchange(ask('b')))).toEqual([0, 154, 0]);
    });

    it('counts the rows of a run by the run', async () => {
      const { proxyPeers, leases, spend } = await joined(open, 'a', 'b');
      const account = { unit: 'run_nano_usd', owner: 'run-1', windowFrom: 0 } as const;
      await leases.exchange(ask('a', { account, least: 500, earlier: 10 }));
      await spend.write([spendRow('x', { proxyId: 'a', runId: 'run-1', cost: nanoUsd(40) })]);
      await proxyPeers.retire('a', 1);
      expect(numbers(await leases.exchange(ask('b', { account })))).toEqual([0, 50, 0]);
      expect((await spend.search({}))[0]).toMatchObject({ proxyId: 'a', runId: 'run-1' });
    });

    it('starts beside others without taking their open calls for interrupted', async () => {
      const { spend } = await joined(open, 'a');
      const lives = { state: 'open', endedAt: null } as const;
      await spend.write([
        spendRow('alive', { ...lives, proxyId: 'a' }),
        spendRow('gone', { ...lives, proxyId: 'z' }),
        spendRow('alone', lives),
      ]);
      expect(await spend.interruptOpen(5)).toBe(2);
      expect(
        (await spend.search({})).filter(({ state }) => state === 'open').map((row) => row.callId),
      ).toEqual(['alive']);
    });
  });
}
