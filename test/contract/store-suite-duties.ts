/** Duties that one of several processes has at a time. Owns no dialect. */
import { describe, expect, it } from 'vitest';
import { nanoUsd } from '../../core/money/money.ts';
import type { Duty } from '../../ports/proxy-peers.ts';
import type { OpenEmptyStore } from './store-harness.ts';
import { spendRow } from './store-rows.ts';

const LEASE_MS = 600_000;
const DAY_MS = 86_400_000;
const BOTH: readonly Duty[] = ['sandboxes', 'warm_pool'];

export function dutySuite(open: OpenEmptyStore): void {
  describe('a duty of several processes', () => {
    it('is that of the first who asks, and each may have another', async () => {
      const { proxyPeers } = await open();
      await proxyPeers.join('a', LEASE_MS, { kind: 'worker', name: 'one' });
      await proxyPeers.join('b', LEASE_MS, { kind: 'run', name: 'two' });
      const leads = async (id: string, duties: readonly Duty[]) =>
        (await proxyPeers.beat(id, LEASE_MS, duties)).leads;
      expect(await leads('a', [])).toEqual([]);
      expect(await leads('b', ['warm_pool'])).toEqual(['warm_pool']);
      expect(await leads('a', BOTH)).toEqual(['sandboxes']);
      expect(await leads('b', BOTH)).toEqual(['warm_pool']);
      const configuration = { version: null, refused: null };
      expect(await proxyPeers.serving()).toEqual([
        { kind: 'run', name: 'two', leads: ['warm_pool'], configuration },
        { kind: 'worker', name: 'one', leads: ['sandboxes'], configuration },
      ]);
    });

    it('goes to another once its process has left, or its lease is over', async () => {
      const { proxyPeers } = await open();
      const facts = { kind: 'worker', name: 'w' } as const;
      for (const id of ['a', 'b']) await proxyPeers.join(id, LEASE_MS, facts);
      expect((await proxyPeers.beat('a', LEASE_MS, BOTH)).leads).toEqual(BOTH);
      await proxyPeers.join('a', -1, facts);
      expect((await proxyPeers.serving()).map(({ leads }) => leads)).toEqual([[]]);
      expect((await proxyPeers.beat('b', LEASE_MS, ['sandboxes'])).leads).toEqual(['sandboxes']);
      // It was silent for a while: it keeps the duties that no other process took meanwhile, and nothing else.
      expect((await proxyPeers.beat('a', LEASE_MS, BOTH)).leads).toEqual(['warm_pool']);
      await proxyPeers.retire('a', 0);
      expect(await proxyPeers.beat('a', LEASE_MS, BOTH)).toMatchObject({ isKnown: false, leads: [] });
      expect((await proxyPeers.beat('b', LEASE_MS, BOTH)).leads).toEqual(BOTH);
    });

    it('is never that of two, however many ask at once', async () => {
      const { proxyPeers } = await open();
      const ids = Array.from({ length: 8 }, (_, number) => `p${number}`);
      const facts = { kind: 'worker', name: 'w' } as const;
      const race = async () => {
        const news = await Promise.all(ids.map((id) => proxyPeers.beat(id, LEASE_MS, BOTH)));
        return news.flatMap(({ leads }) => leads).sort();
      };
      for (const id of ids) await proxyPeers.join(id, LEASE_MS, facts);
      expect(await race()).toEqual([...BOTH]);
      for (let round = 0; round < 10; round += 1) {
        // All were silent: each may come back while another takes what it had.
        for (const id of ids) await proxyPeers.join(id, -1, facts);
        expect(await race()).toEqual([...BOTH]);
      }
    });
  });

  describe('totals of old calls', () => {
    it('count each call once, however many make them at once', async () => {
      const { spend, accounts } = await open();
      const calls = Array.from({ length: 40 }, (_, number) =>
        spendRow(`call-${number}`, { startedAt: number, cost: nanoUsd(1) }),
      );
      await spend.write(calls);
      await Promise.all(Array.from({ length: 6 }, () => accounts.fold(DAY_MS, 100)));
      const days = await accounts.daily({ from: 0, to: DAY_MS });
      expect(days.reduce((sum, day) => sum + day.calls, 0)).toBe(40);
    });
  });
}
