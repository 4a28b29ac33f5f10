/** The contract of HostLeases and of placement on hosts: one speaks for a host, and a sandbox keeps its host. */
import { describe, expect, it } from 'vitest';
import { directoryId } from '../../store/engine/installation.ts';
import { claim, HOSTED, hostOf, LEASE_MS, place } from './hosted-store.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { conversationNumber, LIMITS, NOW, sandboxNumber, sandboxRow, USER } from './store-rows.ts';
import type { OpenEmptyStore } from './store-harness.ts';

export function hostSuite(open: OpenEmptyStore): void {
  describe('HostLeases', () => {
    it('lists hosts with what they say, in the order of their names', async () => {
      const { hosts } = await open();
      const before = Date.now();
      await hosts.take(claim('b', { labels: { gpu: 'a100' } }));
      await hosts.take(claim('a', { capacity: 7, version: '2.0.0' }));
      const [a, b] = await hosts.list();
      const idle = { isLive: true, draining: false, sandboxes: 0, up: 0, fence: 1, runtime: 'process' };
      expect(a).toMatchObject({ ...idle, name: 'a', capacity: 7, version: '2.0.0', labels: {} });
      expect(b).toMatchObject({ ...idle, name: 'b', capacity: 2, labels: { gpu: 'a100' } });
      // The database of a test is on this machine: its clock is about ours.
      expect(Math.abs((a?.heartbeatAt ?? 0) - before)).toBeLessThan(60_000);
      // Both are readings of the database's clock in one statement: a millisecond may end between them.
      const lasts = (a?.leaseUntil ?? 0) - (a?.heartbeatAt ?? 0);
      expect(lasts).toBeGreaterThanOrEqual(LEASE_MS);
      expect(lasts).toBeLessThan(LEASE_MS + 1000);
    });

    it('gives a directory its host again, with a fence that ends the lease before', async () => {
      const { hosts } = await open();
      const first = await hosts.take(claim('a'));
      const second = await hosts.take(claim('a'));
      expect([first.fence, second.fence]).toEqual([1, 2]);
      expect(await hosts.renew(first, LEASE_MS)).toEqual({ isHeld: false, draining: false });
      expect(await hosts.renew(second, LEASE_MS)).toEqual({ isHeld: true, draining: false });
    });

    it('calls a directory as before when the deployment gives no name', async () => {
      const { hosts } = await open();
      const directory = 'one';
      expect(await hosts.take(claim(null, { directory }))).toEqual({ name: 'fallback', fence: 1 });
      expect(await hosts.take(claim('named', { directory }))).toEqual({ name: 'named', fence: 1 });
      expect(await hosts.take(claim(null, { directory }))).toEqual({ name: 'named', fence: 2 });
      expect((await hosts.list()).map(({ name }) => name)).toEqual(['named']);
    });

    it('keeps a name for the directory that has it, until its lease is over and nothing lives there', async () => {
      const store = await open();
      const { hosts, records } = store;
      await hosts.take(claim('a'));
      const other = claim('a', { directory: 'another' });
      const refused = {
        code: 'engine_misconfigured',
        remedy: expect.stringContaining('host.name') as string,
      };
      await expect(hosts.take(other)).rejects.toMatchObject(refused);
      await place(store, 1);
      const [here, elsewhere] = [
        await records.sandboxes({ host: 'a' }),
        await records.sandboxes({ host: 'b' }),
      ];
      expect([here.length, elsewhere.length]).toEqual([1, 0]);
      await hosts.take(claim('a', { leaseMs: 0 }));
      await expect(hosts.take(other)).rejects.toThrow('1 sandboxes live in another data directory');
      await records.project([sandboxRow(sandboxNumber(1), { status: 'MISSING', holdsSlot: false })]);
      expect(await hosts.take(other)).toEqual({ name: 'a', fence: 3 });
    });

    it('refuses another name to a directory in which sandboxes live', async () => {
      const store = await open();
      await store.hosts.take(claim('a'));
      await place(store, 1);
      const renamed = claim('b', { directory: 'directory of a' });
      await expect(store.hosts.take(renamed)).rejects.toThrow(
        'is that of the host "a", where 1 sandboxes live',
      );
      expect((await store.hosts.list()).map(({ name }) => name)).toEqual(['a']);
    });

    it('tells the way to a sandbox of a host, and that there is none', async () => {
      const store = await open();
      const { hosts, records } = store;
      await hosts.take(claim('a', { relay: 'a.test:4200' }));
      await place(store, 1);
      expect(await hosts.wayTo(sandboxNumber(1))).toEqual({ host: 'a', relay: 'a.test:4200' });
      await hosts.take(claim('a'));
      expect(await hosts.wayTo(sandboxNumber(1))).toEqual({ host: 'a', relay: null });
      expect((await hosts.list())[0]?.relay).toBeNull();
      await records.project([sandboxRow(sandboxNumber(1), { status: 'MISSING', holdsSlot: false })]);
      expect(await hosts.wayTo(sandboxNumber(1))).toBeNull();
      expect(await hosts.wayTo(sandboxNumber(2))).toBeNull();
    });

    it('gives one lease to many who ask at once', async () => {
      const { hosts } = await open();
      const leases = await Promise.all(Array.from({ length: 8 }, () => hosts.take(claim('a'))));
      expect(leases.map(({ fence }) => fence).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      const held = await Promise.all(leases.map((lease) => hosts.renew(lease, LEASE_MS)));
      expect(held.filter(({ isHeld }) => isHeld)).toHaveLength(1);
    });

    it('takes over what was made before there were hosts, in the directory that the database belonged to', async () => {
      const store = await open();
      const { hosts, installation } = store;
      const dataDir = tempDir();
      await installation.claim({ sealKeyId: 'seal', dataDir });
      await place(store, 1, { limits: LIMITS });
      await hosts.take(claim('b'));
      expect(await hostOf(store, 1)).toBeUndefined();
      await hosts.take(claim('a', { directory: directoryId(dataDir) }));
      expect(await hostOf(store, 1)).toBe('a');
      expect(await hosts.list()).toMatchObject([{ name: 'a', up: 1, sandboxes: 1 }, { up: 0 }]);
    });

    it('says of a lease that was not renewed in time that it does not run, and takes it back when it is', async () => {
      const { hosts } = await open();
      const lease = await hosts.take(claim('a', { leaseMs: 0 }));
      expect(await hosts.list()).toMatchObject([{ isLive: false }]);
      expect(await hosts.renew(lease, LEASE_MS)).toMatchObject({ isHeld: true });
      expect(await hosts.list()).toMatchObject([{ isLive: true }]);
    });

    it('drains and takes that back; a restart changes neither', async () => {
      const { hosts } = await open();
      const lease = await hosts.take(claim('a'));
      expect(await hosts.drain('nobody', true)).toBe(false);
      expect(await hosts.drain('a', true)).toBe(true);
      expect(await hosts.renew(lease, LEASE_MS)).toEqual({ isHeld: true, draining: true });
      await hosts.take(claim('a'));
      expect(await hosts.list()).toMatchObject([{ draining: true }]);
      expect(await hosts.drain('a', false)).toBe(true);
      expect(await hosts.list()).toMatchObject([{ draining: false }]);
      await hosts.drain('a', true, { archivesReleased: true });
      expect(await hosts.list()).toMatchObject([{ draining: true, archivesReleased: true }]);
      await hosts.drain('a', true);
      expect(await hosts.list()).toMatchObject([{ draining: true, archivesReleased: false }]);
      await hosts.drain('a', false, { archivesReleased: true });
      expect(await hosts.list()).toMatchObject([{ draining: false, archivesReleased: false }]);
    });

    it('keeps hostile names and labels as they are, without what no column holds', async () => {
      const { hosts } = await open();
      const labels = { '<b>': '\u001b[31m\u0000' };
      const lease = await hosts.take(claim(`'; drop table host; --\u0000`, { labels, directory: 'one' }));
      expect(lease.name).toBe(`'; drop table host; --\uFFFD`);
      expect(await hosts.renew(lease, LEASE_MS)).toMatchObject({ isHeld: true });
      expect(await hosts.list()).toMatchObject([{ labels }]);
    });
  });

  describe('PlacementStore on hosts', () => {
    it('binds nothing where the deployment has no hosts', async () => {
      const store = await open();
      await store.hosts.take(claim('a'));
      expect(await place(store, 1, { limits: LIMITS })).toMatchObject({ kind: 'placed' });
      expect(await hostOf(store, 1)).toBeUndefined();
      expect(await store.hosts.list()).toMatchObject([{ up: 0, sandboxes: 0 }]);
    });

    it('spreads over the hosts, and remembers where each sandbox lives', async () => {
      const store = await open();
      await store.hosts.take(claim('a'));
      await store.hosts.take(claim('b'));
      for (const index of [1, 2, 3]) await place(store, index);
      expect(await Promise.all([1, 2, 3, 4].map((index) => hostOf(store, index)))).toEqual([
        ...['a', 'b', 'a'],
        undefined,
      ]);
      expect(await store.hosts.list()).toMatchObject([
        { name: 'a', up: 2, sandboxes: 2 },
        { name: 'b', up: 1, sandboxes: 1 },
      ]);
    });

    it('never fills a host beyond its capacity, however many ask at once', async () => {
      const store = await open();
      await store.hosts.take(claim('a'));
      await store.hosts.take(claim('b', { capacity: 3 }));
      const outcomes = await Promise.all(Array.from({ length: 9 }, (_, index) => place(store, index + 1)));
      expect(outcomes.filter(({ kind }) => kind === 'placed')).toHaveLength(5);
      expect(outcomes.filter(({ kind }) => kind === 'refused')).toHaveLength(4);
      expect(await store.hosts.list()).toMatchObject([{ up: 2 }, { up: 3 }]);
    });

    it('tells who is refused how full the hosts are, and lets others wait in the line', async () => {
      const store = await open();
      await store.hosts.take(claim('a', { capacity: 1 }));
      await place(store, 1);
      expect(await place(store, 2)).toMatchObject({
        kind: 'refused',
        refusal: { code: 'concurrency_limit_reached', slots: { limit: 1, current: 1 } },
      });
      const slots = { limit: 1, current: 1, position: 1 };
      expect(await place(store, 3, { waits: true })).toMatchObject({ kind: 'waits', slots });
      expect(await place(store, 4, { waits: true })).toMatchObject({ kind: 'waits', slots: { position: 2 } });
      await store.hosts.take(claim('b'));
      const next = await store.placement.nextInLine({ limits: HOSTED, now: NOW });
      expect(next.map(({ waiterId }) => waiterId)).toEqual([conversationNumber(3), conversationNumber(4)]);
      expect(await place(store, 3, { waits: true })).toMatchObject({ kind: 'placed' });
      expect(await hostOf(store, 3)).toBe('b');
    });

    it('names what was released on a host, and nothing else of it', async () => {
      const store = await open();
      await store.hosts.take(claim('a', { capacity: 9 }));
      const states = ['PAUSED', 'RUNNING', 'PAUSED', 'MISSING', 'ERROR'] as const;
      for (const [at, status] of states.entries()) {
        await place(store, at + 1);
        const kept = { sequence: 2, releasedAt: NOW, available: false, holdsSlot: status === 'RUNNING' };
        await store.records.project([sandboxRow(sandboxNumber(at + 1), { status, ...kept })]);
      }
      // Of one an agent waits for a person; of the other the stop is under way.
      await place(store, 6);
      const waiting = { status: 'PAUSED', sequence: 2 } as const;
      await store.records.project([sandboxRow(sandboxNumber(6), waiting)]);
      await place(store, 7);
      const pausing = { ...waiting, available: false, transition: 'pausing' } as const;
      await store.records.project([sandboxRow(sandboxNumber(7), pausing)]);
      const released = [sandboxNumber(1), sandboxNumber(3)];
      expect((await store.hosts.releasedOn('a', 9)).toSorted()).toEqual(released);
      expect(await store.hosts.releasedOn('a', 1)).toHaveLength(1);
      expect(await store.hosts.releasedOn("b' or 1=1", 9)).toEqual([]);
      await store.hosts.giveUp({ name: 'a', fence: 1, silentMs: 0, alsoStopped: true });
      expect(await store.hosts.releasedOn('a', 9)).toHaveLength(2);
    });

    it('hands nothing to a host that drains or whose lease is over', async () => {
      const store = await open();
      await store.hosts.take(claim('a', { leaseMs: 0 }));
      await store.hosts.take(claim('b'));
      await store.hosts.drain('b', true);
      expect(await place(store, 1)).toMatchObject({ kind: 'refused', refusal: { slots: { limit: 0 } } });
      await store.hosts.take(claim('a'));
      expect(await place(store, 1)).toMatchObject({ kind: 'placed' });
      expect(await hostOf(store, 1)).toBe('a');
    });

    it('takes the host that is asked for, and says so when there is none', async () => {
      const store = await open();
      await store.hosts.take(claim('a'));
      await store.hosts.take(claim('b', { labels: { gpu: 'a100' } }));
      await place(store, 1, { host: { name: 'b' } });
      await place(store, 2, { host: { labels: { gpu: 'a100' } } });
      expect([await hostOf(store, 1), await hostOf(store, 2)]).toEqual(['b', 'b']);
      expect(await place(store, 3, { host: { name: 'c' } })).toMatchObject({
        kind: 'refused',
        refusal: {
          code: 'placement_failed',
          reason: expect.stringContaining('no host "c", but a, b') as string,
        },
      });
    });

    it('resumes a sandbox on its host alone, also while that one drains', async () => {
      const store = await open();
      const { hosts, placement, records } = store;
      await hosts.take(claim('a', { capacity: 1 }));
      await place(store, 1);
      const released = { status: 'PAUSED', holdsSlot: false, generation: 1, sequence: 2 } as const;
      await records.project([sandboxRow(sandboxNumber(1), released)]);
      await hosts.take(claim('b', { capacity: 9 }));
      await place(store, 2, { host: { name: 'a' } });
      const resuming = { ...released, generation: 2, sequence: 3, transition: 'resuming' } as const;
      await records.project([sandboxRow(sandboxNumber(1), resuming)]);
      const resume = { sandboxId: sandboxNumber(1), generation: 2, userId: USER, limits: HOSTED, now: NOW };
      expect(await placement.reserveSlot({ ...resume, waits: false })).toEqual({
        ...{ kind: 'refused', limit: 1, current: 1, position: 1 },
        waitsFor: { said: 'the host "a" (1 of 1 in use)', hosts: ['a'] },
      });
      await records.project([
        sandboxRow(sandboxNumber(2), { status: 'MISSING', holdsSlot: false, generation: 1 }),
      ]);
      await hosts.drain('a', true);
      expect(await placement.reserveSlot({ ...resume, waits: false })).toEqual({ kind: 'granted' });
      expect(await hosts.list()).toMatchObject([
        { name: 'a', up: 1 },
        { name: 'b', up: 0 },
      ]);
    });

    it('gives the warm sandboxes of a host to whoever asks there', async () => {
      const store = await open();
      const { hosts, warmPool } = store;
      await hosts.take(claim('a'));
      await hosts.take(claim('b'));
      const [onA, onB] = [sandboxNumber(901), sandboxNumber(902)];
      const request = { spec: 'as configured', limits: HOSTED, now: NOW };
      await warmPool.reserve({ ...request, sandboxId: onA, host: 'a' });
      await warmPool.reserve({ ...request, sandboxId: onB, host: 'b' });
      await warmPool.ready(onA, NOW);
      await warmPool.ready(onB, NOW);
      expect((await warmPool.held('a')).map((one) => one.sandboxId)).toEqual([onA]);
      const use = { spec: 'as configured', bootedAfter: NOW - 1, host: 'b' };
      expect((await warmPool.usable(use)).map((one) => one.sandboxId)).toEqual([onB]);
      expect(await place(store, 1, { warm: onB })).toMatchObject({ kind: 'placed', sandboxId: onB });
      expect((await hosts.hostsOf([onB])).get(onB)).toBe('b');
      expect(await hosts.list()).toMatchObject([{ up: 1 }, { up: 1 }]);
      await hosts.drain('a', true);
      expect(await warmPool.usable({ ...use, host: 'a' })).toEqual([]);
    });
  });
}
