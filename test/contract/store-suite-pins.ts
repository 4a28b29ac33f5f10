/** The contract of PlacementStore for conversations that name a host: each goes there, or waits and delays no other. */
import { describe, expect, it } from 'vitest';
import { runId } from '../../core/ids.ts';
import { claim, HOSTED, hostOf, place } from './hosted-store.ts';
import {
  conversationNumber,
  conversationRow,
  LIMITS,
  NOW,
  sandboxNumber,
  sandboxRow,
  USER,
} from './store-rows.ts';
import type { OpenEmptyStore } from './store-harness.ts';

export function pinSuite(open: OpenEmptyStore): void {
  describe('PlacementStore for who names a host', () => {
    it('lets who wants another host wait, says for what, and holds up nobody behind', async () => {
      const store = await open();
      const { hosts, placement } = store;
      const limits = { ...HOSTED, installationMax: 3 };
      await hosts.take(claim('a', { capacity: 9 }));
      const late = { host: { name: 'c' }, waits: true, limits };
      expect(await place(store, 1, late)).toMatchObject({
        kind: 'waits',
        slots: { position: 1, waitsFor: { said: 'a host: there is no host "c", but a', hosts: [] } },
      });
      const labelled = { host: { labels: { gpu: '<b>' } }, waits: true, limits };
      expect(await place(store, 2, labelled)).toMatchObject({ kind: 'waits', slots: { position: 2 } });
      for (const index of [3, 4])
        expect(await place(store, index, { waits: true, limits })).toMatchObject({ kind: 'placed' });
      await hosts.take(claim('c', { capacity: 1 }));
      await hosts.drain('c', true);
      expect(await place(store, 1, late)).toMatchObject({
        slots: { waitsFor: { said: 'the host "c", which drains: parley hosts undrain c' } },
      });
      expect(await placement.nextInLine({ limits, now: NOW })).toEqual([]);
      await hosts.drain('c', false);
      const [next, ...others] = await placement.nextInLine({ limits, now: NOW });
      expect([next?.waiterId, next?.host, others]).toEqual([conversationNumber(1), { name: 'c' }, []]);
      // The last slot is kept for it.
      expect(await place(store, 5, { limits })).toMatchObject({ kind: 'refused' });
      expect(await place(store, 1, late)).toMatchObject({ kind: 'placed' });
      expect(await hostOf(store, 1)).toBe('c');
    });

    it('keeps a place on a host for who waits for it, where another has room for the next', async () => {
      const store = await open();
      const { hosts } = store;
      await hosts.take(claim('a', { capacity: 1 }));
      await hosts.take(claim('b', { capacity: 9 }));
      await place(store, 1, { host: { name: 'a' } });
      const pinned = { host: { name: 'a' }, waits: true };
      expect(await place(store, 2, pinned)).toMatchObject({
        kind: 'waits',
        slots: { limit: 1, current: 1, waitsFor: { said: 'the host "a" (1 of 1 in use)', hosts: ['a'] } },
      });
      await hosts.take(claim('a', { capacity: 2 }));
      expect(await place(store, 3)).toMatchObject({ kind: 'placed' });
      expect(await hostOf(store, 3)).toBe('b');
      expect(await place(store, 2, pinned)).toMatchObject({ kind: 'placed' });
      expect(await hostOf(store, 2)).toBe('a');
    });

    it('shares only a sandbox on a host that is asked for, and says why not another', async () => {
      const store = await open();
      await store.hosts.take(claim('a'));
      await store.hosts.take(claim('b', { labels: { gpu: 'a100' } }));
      await place(store, 1, { host: { name: 'a' } });
      const up = { status: 'RUNNING', available: true, sessionStartedAt: NOW } as const;
      await store.records.project([sandboxRow(sandboxNumber(1), up)]);
      const shared = { strategy: 'ADD_TO_ANY', limits: HOSTED } as const;
      expect(await place(store, 2, { ...shared, host: { labels: { gpu: 'a100' } } })).toMatchObject({
        sandboxId: sandboxNumber(2),
        decision: { seen: [{ sandboxId: sandboxNumber(1), why: 'other_host' }] },
      });
      expect(await place(store, 3, { ...shared, host: { name: 'a' } })).toMatchObject({
        sandboxId: sandboxNumber(1),
      });
    });

    it('takes no warm sandbox of another host than is asked for', async () => {
      const store = await open();
      const { hosts, warmPool } = store;
      await hosts.take(claim('a'));
      await hosts.take(claim('b'));
      const warm = sandboxNumber(901);
      const request = { spec: 'as configured', limits: HOSTED, now: NOW };
      await warmPool.reserve({ ...request, sandboxId: warm, host: 'a' });
      await warmPool.ready(warm, NOW);
      expect(await place(store, 1, { warm, host: { name: 'b' } })).toMatchObject({
        ...{ kind: 'placed', sandboxId: sandboxNumber(1) },
      });
      expect(await hostOf(store, 1)).toBe('b');
      expect(await place(store, 2, { warm, host: { name: 'a' } })).toMatchObject({ sandboxId: warm });
    });

    it('makes the sandboxes of a pool ahead on the host that its job names', async () => {
      const store = await open();
      await store.hosts.take(claim('a'));
      await store.hosts.take(claim('b'));
      const request = { userId: USER, limits: HOSTED, now: NOW, pool: { poolId: runId('r'), size: 3 } };
      const reserve = (index: number, name: string) =>
        store.placement.reserveSandbox({ ...request, sandboxId: sandboxNumber(index), host: { name } });
      expect([await reserve(1, 'b'), await reserve(2, 'b')]).toEqual([
        { kind: 'granted' },
        { kind: 'granted' },
      ]);
      expect([await hostOf(store, 1), await hostOf(store, 2)]).toEqual(['b', 'b']);
      expect(await reserve(3, 'b')).toMatchObject({ kind: 'refused', limit: 2, current: 2 });
      expect(await reserve(3, 'c')).toMatchObject({ kind: 'refused' });
    });

    it('refuses a host where sandboxes are bound to none, at once and for good', async () => {
      const store = await open();
      await store.hosts.take(claim('a'));
      expect(await place(store, 1, { limits: LIMITS, host: { name: 'a' }, waits: true })).toMatchObject({
        kind: 'refused',
        refusal: {
          code: 'placement_failed',
          reason: expect.stringContaining('on the host "a": sandboxes of this deployment') as string,
        },
      });
    });

    it('names for a pause only sandboxes on the hosts that are asked for', async () => {
      const { hosts, placement, records, ...store } = await open();
      await hosts.take(claim('a'));
      await hosts.take(claim('b'));
      for (const [at, name] of ['a', 'b'].entries()) {
        await place({ hosts, placement, records, ...store }, at + 1, { host: { name } });
        await records.project([
          sandboxRow(sandboxNumber(at + 1)),
          conversationRow(conversationNumber(at + 1)),
        ]);
      }
      expect(await placement.longestIdle(USER)).toBe(sandboxNumber(1));
      expect(await placement.longestIdle(USER, undefined, ['b'])).toBe(sandboxNumber(2));
      expect(await placement.longestIdle(USER, undefined, ['c'])).toBeNull();
    });
  });
}
