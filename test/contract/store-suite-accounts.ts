/** The contract of SpendAccounts and ProxyKeyStore: sums that close, over rows that are there and rows that are folded. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nanoUsd } from '../../core/money/money.ts';
import type { SpendRow } from '../../core/money/spend.ts';
import type { ProxyKeyRecord } from '../../ports/proxy-keys.ts';
import { spendRow } from './store-rows.ts';
import type { OpenEmptyStore } from './store-harness.ts';

const DAY_MS = 86_400_000;
const ALL = { from: 0, to: 100 * DAY_MS };

function keyRecord(hash: string, changes: Partial<ProxyKeyRecord> = {}): ProxyKeyRecord {
  return {
    hash,
    name: `name-${hash}`,
    tail: 'tail',
    createdAt: 1,
    expiresAt: null,
    team: null,
    userId: null,
    models: null,
    rpm: null,
    tpm: null,
    parallelMax: null,
    budgetNanoUsd: null,
    budgetWindowMs: null,
    tags: [],
    metadata: {},
    isBlocked: false,
    ...changes,
  };
}

export function accountsSuite(open: OpenEmptyStore): void {
  describe('SpendAccounts', () => {
    it('sums the priced rows of a key from an instant on', async () => {
      const { spend, accounts } = await open();
      await spend.write([
        spendRow('a', { startedAt: 10, keyName: 'k', cost: nanoUsd(5) }),
        spendRow('b', { startedAt: 20, keyName: 'k', cost: nanoUsd(7) }),
        spendRow('c', { startedAt: 30, keyName: 'k', cost: null, costSource: 'unpriced' }),
        spendRow('d', { startedAt: 20, keyName: 'other', cost: nanoUsd(100) }),
      ]);
      expect(await accounts.spentBy('k', 0)).toBe(12);
      expect(await accounts.spentBy('k', 20)).toBe(7);
      expect(await accounts.spentBy('k', 21)).toBe(0);
      expect(await accounts.spentBy('nobody', 0)).toBe(0);
    });

    it('gives whole days by model, key, team and user, with unpriced calls beside the money', async () => {
      const { spend, accounts } = await open();
      const own = { keyName: 'k', modelName: 'm', promptTokens: 1, completionTokens: 2, cachedTokens: 1 };
      await spend.write([
        spendRow('a', { ...own, startedAt: DAY_MS, user: 'ada', team: 't', cost: nanoUsd(5) }),
        spendRow('b', {
          ...own,
          startedAt: 2 * DAY_MS - 1,
          user: 'ada',
          team: 't',
          state: 'failed',
          cost: null,
        }),
        spendRow('c', { ...own, startedAt: 2 * DAY_MS, user: null, cost: nanoUsd(3), cachedTokens: null }),
        spendRow('d', { ...own, startedAt: DAY_MS, state: 'open', endedAt: null }),
      ]);
      const tokens = { promptTokens: 2, completionTokens: 4, cachedTokens: 2 };
      const group = { modelName: 'm', keyName: 'k' };
      const first = { day: DAY_MS, ...group, team: 't', user: 'ada', calls: 2, failed: 1, unpriced: 1 };
      const second = { day: 2 * DAY_MS, ...group, team: null, user: null, calls: 1, failed: 0, unpriced: 0 };
      const [one, two] = [
        { ...first, ...tokens, cost: 5 },
        { ...second, promptTokens: 1, completionTokens: 2, cachedTokens: 0, cost: 3 },
      ];
      expect(await accounts.daily(ALL)).toEqual([one, two]);
      expect(await accounts.daily({ from: 2 * DAY_MS, to: 3 * DAY_MS })).toEqual([two]);
      expect(await accounts.daily({ from: 1, to: 2 * DAY_MS })).toEqual([one]);
      expect(await accounts.fold(2 * DAY_MS, 500)).toBe(2);
      expect(await accounts.daily(ALL)).toEqual([one, two]);
      expect((await spend.search({})).map((row) => row.callId)).toEqual(['d', 'c']);
    });

    it('never changes a sum by folding, in whatever steps', async () => {
      const row = fc.record({
        startedAt: fc.integer({ min: 0, max: 5 * DAY_MS }),
        user: fc.constantFrom('ada', 'bob', null),
        keyName: fc.constantFrom('k1', 'k2'),
        state: fc.constantFrom<SpendRow['state']>('succeeded', 'failed', 'aborted', 'interrupted'),
        cost: fc.option(fc.integer({ min: 0, max: 1_000_000_000 }).map(nanoUsd), { nil: null }),
      });
      const steps = fc.array(
        fc.record({ before: fc.integer({ min: 0, max: 6 * DAY_MS }), limit: fc.integer({ min: 1, max: 9 }) }),
        { maxLength: 6 },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(row, { maxLength: 40 }), steps, async (rows, folds) => {
          const { spend, accounts } = await open();
          await spend.write(rows.map((one, i) => spendRow(`call-${i}`, one)));
          const before = await accounts.daily(ALL);
          expect(before.reduce((sum, day) => sum + day.calls, 0)).toBe(rows.length);
          expect(before.reduce((sum, day) => sum + day.cost, 0)).toBe(
            rows.reduce((sum, one) => sum + (one.cost ?? 0), 0),
          );
          for (const fold of folds) await accounts.fold(fold.before, fold.limit);
          expect(await accounts.daily(ALL)).toEqual(before);
        }),
        { numRuns: 8 },
      );
    });
  });

  describe('ProxyKeyStore', () => {
    it('finds, lists, replaces and removes records by their hash', async () => {
      const { proxyKeys } = await open();
      const [one, two] = [keyRecord('h1', { createdAt: 2, tags: ['a'] }), keyRecord('h2', { createdAt: 1 })];
      await proxyKeys.put(one);
      await proxyKeys.put(two);
      expect(await proxyKeys.find('h1')).toEqual(one);
      expect(await proxyKeys.find('h3')).toBeNull();
      expect(await proxyKeys.list()).toEqual([two, one]);
      const blocked = { ...one, isBlocked: true };
      await proxyKeys.put(blocked);
      expect(await proxyKeys.list()).toEqual([two, blocked]);
      expect(await proxyKeys.remove('h1')).toBe(true);
      expect(await proxyKeys.remove('h1')).toBe(false);
      expect(await proxyKeys.list()).toEqual([two]);
    });

    it('refuses the name of another key', async () => {
      const { proxyKeys } = await open();
      await proxyKeys.put(keyRecord('h1', { name: 'same' }));
      await expect(proxyKeys.put(keyRecord('h2', { name: 'same' }))).rejects.toMatchObject({
        code: 'store_conflict',
      });
    });
  });
}
