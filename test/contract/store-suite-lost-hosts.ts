/** The contract of the end of a host's lease: given up by one of many, stopped in order, and taken again. */
import { describe, expect, it } from 'vitest';
import type { HostClaim } from '../../ports/host-leases.ts';
import type { Store } from '../../store/open-store.ts';
import type { OpenEmptyStore } from './store-harness.ts';
import { LIMITS, NOW, placeRequest, sandboxNumber, sandboxRow } from './store-rows.ts';

const LEASE_MS = 600_000;
const HOSTED = { ...LIMITS, hosts: { runtime: 'process', strategy: 'spread' } } as const;
const NEW = { strategy: 'NO_GROUPING', limits: HOSTED } as const;

function claim(name: string, changes: Partial<HostClaim> = {}): HostClaim {
  return {
    ...{ name, fallbackName: 'fallback', directory: `directory of ${name}`, runtime: 'process', capacity: 9 },
    ...{ labels: {}, relay: null, version: '1.0.0', leaseMs: LEASE_MS },
    ...changes,
  };
}

const place = (store: Store, index: number) =>
  store.placement.place(placeRequest(index, { ...NEW, newSandboxId: sandboxNumber(index) }));

/** One host with two sandboxes, whose lease has just run out. */
async function silent({ hosts, ...store }: Store): Promise<void> {
  await hosts.take(claim('a'));
  await place({ hosts, ...store }, 1);
  await place({ hosts, ...store }, 2);
  await hosts.renew({ name: 'a', fence: 1 }, 0);
}

export function lostHostSuite(open: OpenEmptyStore): void {
  describe('hosts that are lost', () => {
    it('are given up once, by one of many, with what lives there', async () => {
      const store = await open();
      await silent(store);
      const loss = { name: 'a', fence: 1, silentMs: 0 };
      const found = await Promise.all(Array.from({ length: 6 }, () => store.hosts.giveUp(loss)));
      expect(found.toSorted()).toEqual([2, null, null, null, null, null]);
      const own = { ended: 'lost', isLive: false, fence: 2, sandboxes: 0, lost: 2, up: 2 };
      expect(await store.hosts.list()).toMatchObject([own]);
      const lost = [1, 2].map((index) => ({ sandboxId: sandboxNumber(index), host: 'a' }));
      expect(await store.hosts.lostSandboxes(9)).toEqual(lost);
      expect(await store.hosts.lostSandboxes(1)).toEqual(lost.slice(0, 1));
    });

    it('are refused the fence that they had, and given a new one', async () => {
      const { hosts } = await open();
      const before = await hosts.take(claim('a', { leaseMs: 0 }));
      expect(before).toEqual({ name: 'a', fence: 1 });
      await hosts.giveUp({ ...before, silentMs: 0 });
      expect(await hosts.renew(before, LEASE_MS)).toEqual({ isHeld: false, draining: false });
      expect(await hosts.list()).toMatchObject([{ isLive: false, ended: 'lost' }]);
      expect(await hosts.take(claim('a'))).toEqual({ name: 'a', fence: 3, wasLost: true });
      expect(await hosts.list()).toMatchObject([{ isLive: true, ended: null }]);
      expect(await hosts.take(claim('a'))).toEqual({ name: 'a', fence: 4 });
    });

    it('are none while the lease runs, nor before it has been over for so long', async () => {
      const store = await open();
      await store.hosts.take(claim('a'));
      const loss = { name: 'a', fence: 1, silentMs: 0 };
      expect(await store.hosts.giveUp(loss)).toBeNull();
      await store.hosts.renew(loss, 0);
      expect(await store.hosts.giveUp({ ...loss, silentMs: 60_000 })).toBeNull();
      expect(await store.hosts.giveUp({ ...loss, fence: 7 })).toBeNull();
      expect(await store.hosts.giveUp({ ...loss, name: `'; drop table host; --` })).toBeNull();
      expect(await store.hosts.list()).toMatchObject([{ fence: 1, ended: null }]);
      expect(await store.hosts.giveUp(loss)).toBe(0);
    });

    it('are asked for nothing once a sandbox of theirs is MISSING', async () => {
      const store = await open();
      await silent(store);
      await store.hosts.giveUp({ name: 'a', fence: 1, silentMs: 0 });
      const one = sandboxNumber(1);
      expect((await store.hosts.hostsOf([one])).get(one)).toBe('a');
      await store.records.project([sandboxRow(one, { status: 'MISSING', holdsSlot: false })]);
      expect((await store.hosts.hostsOf([one])).size).toBe(0);
      expect(await store.hosts.lostSandboxes(9)).toMatchObject([{ sandboxId: sandboxNumber(2) }]);
      expect(await store.hosts.list()).toMatchObject([{ lost: 1, up: 1 }]);
    });

    it('lose no sandbox that is made after they came back', async () => {
      const store = await open();
      await silent(store);
      await store.hosts.giveUp({ name: 'a', fence: 1, silentMs: 0 });
      await store.hosts.take(claim('a'));
      await place(store, 3);
      expect(await store.hosts.list()).toMatchObject([{ sandboxes: 1, lost: 2 }]);
      expect((await store.hosts.lostSandboxes(9)).map(({ sandboxId }) => sandboxId)).not.toContain(
        sandboxNumber(3),
      );
    });

    it('keep their name from other directories until what they lost is MISSING', async () => {
      const store = await open();
      await silent(store);
      await store.hosts.giveUp({ name: 'a', fence: 1, silentMs: 0 });
      const other = claim('a', { directory: 'another' });
      await expect(store.hosts.take(other)).rejects.toThrow(
        '2 sandboxes of another data directory are being given up',
      );
      for (const index of [1, 2])
        await store.records.project([
          sandboxRow(sandboxNumber(index), { status: 'MISSING', holdsSlot: false }),
        ]);
      expect(await store.hosts.take(other)).toEqual({ name: 'a', fence: 3 });
    });

    it('leave nothing of their warm pool, and give its slots back', async () => {
      const store = await open();
      const { hosts, warmPool } = store;
      await hosts.take(claim('a'));
      await hosts.take(claim('b'));
      const request = { spec: 's', limits: HOSTED, now: NOW };
      for (const [index, host] of [
        [901, 'a'],
        [902, 'a'],
        [903, 'b'],
      ] as const)
        await warmPool.reserve({ ...request, sandboxId: sandboxNumber(index), host });
      await warmPool.ready(sandboxNumber(902), NOW);
      await hosts.renew({ name: 'a', fence: 1 }, 0);
      await hosts.giveUp({ name: 'a', fence: 1, silentMs: 0 });
      expect(await hosts.list()).toMatchObject([{ up: 0 }, { up: 1 }]);
      expect((await warmPool.held()).map(({ sandboxId }) => sandboxId)).toEqual([sandboxNumber(903)]);
    });

    it('are not those that have stopped in order, whose directory finds what lives there', async () => {
      const store = await open();
      const { hosts } = store;
      const lease = await hosts.take(claim('a'));
      await place(store, 1);
      await hosts.stop({ ...lease, fence: 0 });
      expect(await hosts.list()).toMatchObject([{ isLive: true, ended: null }]);
      await hosts.stop(lease);
      await hosts.stop(lease);
      expect(await hosts.list()).toMatchObject([{ isLive: false, ended: 'stopped', sandboxes: 1 }]);
      expect(await hosts.giveUp({ ...lease, silentMs: 0 })).toBeNull();
      await expect(hosts.take(claim('a', { directory: 'another' }))).rejects.toThrow('1 sandboxes live');
      expect(await hosts.take(claim('a'))).toEqual({ name: 'a', fence: 2 });
      expect(await hosts.list()).toMatchObject([{ isLive: true, ended: null, sandboxes: 1, lost: 0 }]);
    });

    it('are those that have stopped, too, when an operator says so', async () => {
      const { hosts } = await open();
      const lease = await hosts.take(claim('a'));
      const loss = { ...lease, silentMs: 0, alsoStopped: true } as const;
      expect(await hosts.giveUp(loss)).toBeNull();
      await hosts.stop(lease);
      expect(await hosts.giveUp(loss)).toBe(0);
      expect(await hosts.giveUp({ ...loss, fence: 2 })).toBeNull();
    });

    it('leave their name at once to another directory when they have stopped with nothing there', async () => {
      const { hosts } = await open();
      await hosts.stop(await hosts.take(claim('a')));
      expect(await hosts.take(claim('a', { directory: 'another' }))).toEqual({ name: 'a', fence: 2 });
    });
  });
}
