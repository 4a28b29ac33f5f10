/** The contract of PlacementStore for pools: whose a sandbox is, who takes a place in it, and no pool beyond its size. */
import { describe, expect, it } from 'vitest';
import { userId } from '../../core/ids.ts';
import type { PoolPlacement } from '../../core/placement/place-in-pool.ts';
import type { PlaceOutcome } from '../../ports/placement-store.ts';
import {
  conversationNumber,
  conversationRow,
  LIMITS,
  NOW,
  placeRequest,
  RUN,
  runItemRow,
  sandboxNumber,
  sandboxRow,
  USER,
} from './store-rows.ts';
import type { OpenEmptyStore } from './store-harness.ts';

const [C1, C2] = [conversationNumber(1), conversationNumber(2)];
const [S1, S2, S3] = [sandboxNumber(1), sandboxNumber(2), sandboxNumber(3)];

const inPool = (index: number, pool: Partial<PoolPlacement> = {}, change: object = {}) =>
  placeRequest(index, {
    isFinal: true,
    pool: {
      poolId: RUN,
      key: `k${index}`,
      affinity: null,
      size: 1,
      maxPerSandbox: 1,
      recycleAfter: null,
      recycleAgeMs: null,
      onFull: 'wait',
      ...pool,
    },
    ...change,
  });
function placedIn(outcome: PlaceOutcome): string {
  if (outcome.kind === 'placed') return outcome.sandboxId;
  return outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind;
}

export function poolSuite(open: OpenEmptyStore): void {
  describe('PlacementStore with a pool', () => {
    it('gives the place to the next one as soon as the row of its item says that it has left', async () => {
      const { placement, records } = await open();
      expect(placedIn(await placement.place(inPool(1)))).toBe(S1);
      expect(placedIn(await placement.place(inPool(2)))).toBe('pool_full');
      await records.project([runItemRow('k1', { conversationId: C1, left: [] })]);
      expect(placedIn(await placement.place(inPool(2)))).toBe('pool_full');
      await records.project([
        runItemRow('k1', { sequence: 2, conversationId: C1, phase: 'ended', left: [C1] }),
      ]);
      expect(placedIn(await placement.place(inPool(2)))).toBe(S1);
      expect(await placement.decision(C2)).toMatchObject({
        rule: 'ADD_TO_ANY',
        chosen: S1,
        seen: [{ sandboxId: S1, why: 'available' }],
        pool: { poolId: RUN, living: 1, spilled: false },
      });
    });

    it('says the same again, and counts nobody twice', async () => {
      const { placement } = await open();
      const first = await placement.place(inPool(1, { recycleAfter: 2, maxPerSandbox: 9 }));
      expect(await placement.place(inPool(1, { recycleAfter: 2, maxPerSandbox: 9 }))).toEqual(first);
      expect(placedIn(await placement.place(inPool(2, { recycleAfter: 2, maxPerSandbox: 9 })))).toBe(S1);
      expect(placedIn(await placement.place(inPool(3, { recycleAfter: 2, maxPerSandbox: 9 })))).toBe(
        'pool_full',
      );
    });

    it('keeps strangers out, also those of the same user', async () => {
      const { placement, records } = await open();
      await placement.place(inPool(1, { maxPerSandbox: 9 }));
      await records.project([sandboxRow(S1)]);
      const stranger = await placement.place(placeRequest(2));
      expect(stranger).toMatchObject({
        sandboxId: S2,
        created: true,
        decision: { seen: [{ sandboxId: S1, why: 'of_a_pool' }] },
      });
    });

    it('remembers a refusal for good only where the job does not wait', async () => {
      const { placement, records } = await open();
      await placement.place(inPool(1));
      const fails = inPool(2, { onFull: 'fail' });
      expect(placedIn(await placement.place(fails))).toBe('pool_full');
      expect(placedIn(await placement.place(inPool(3)))).toBe('pool_full');
      await records.project([runItemRow('k1', { conversationId: C1, left: [C1] })]);
      expect(placedIn(await placement.place(fails))).toBe('pool_full');
      expect(placedIn(await placement.place(inPool(3)))).toBe(S1);
    });

    it('spills outside the pool, where it takes no place of it', async () => {
      const { placement, records } = await open();
      await placement.place(inPool(1));
      await records.project([sandboxRow(S1)]);
      const spilled = await placement.place(inPool(2, { onFull: 'spill' }));
      expect(spilled).toMatchObject({ sandboxId: S2, created: true, decision: { pool: { spilled: true } } });
      await records.project([sandboxRow(S2), runItemRow('k1', { left: [C1] })]);
      expect(placedIn(await placement.place(inPool(3)))).toBe(S1);
      expect(placedIn(await placement.place(placeRequest(4)))).toBe(S2);
    });

    it('keeps the kind of a sandbox while somebody is in it', async () => {
      const { placement, records } = await open();
      const rules = { size: 2, maxPerSandbox: 3 };
      const at = async (index: number, affinity: string | null) =>
        placedIn(await placement.place(inPool(index, { ...rules, affinity })));
      expect(await at(1, 'a')).toBe(S1);
      expect(await at(2, 'b')).toBe(S2);
      expect(await at(3, 'a')).toBe(S1);
      expect(await at(4, 'b')).toBe(S2);
      const gone = [1, 3].map((index) =>
        runItemRow(`k${index}`, { left: [conversationNumber(index)], phase: 'ended' }),
      );
      await records.project(gone);
      expect(await at(5, 'c')).toBe(S1);
      expect(await at(6, 'c')).toBe(S1);
    });

    it('takes one that boots or is released, and none that is being removed', async () => {
      const { placement, records } = await open();
      const two = { size: 1, maxPerSandbox: 2 };
      await placement.place(inPool(1, two));
      expect(placedIn(await placement.place(inPool(2, two)))).toBe(S1);
      const left = [runItemRow('k1', { left: [C1] }), runItemRow('k2', { left: [C2] })];
      const released = { status: 'PAUSED', available: false, sessionStartedAt: null } as const;
      await records.project([...left, sandboxRow(S1, released)]);
      expect(placedIn(await placement.place(inPool(3, two)))).toBe(S1);
      await records.project([sandboxRow(S1, { ...released, sequence: 2, transition: 'deleting' })]);
      expect(placedIn(await placement.place(inPool(4, two)))).toBe(sandboxNumber(4));
    });

    it('shares with another kind when there is no slot for one more sandbox', async () => {
      const { placement } = await open();
      const rules = { size: 2, maxPerSandbox: 2 };
      const limits = { ...LIMITS, userMax: 1 };
      await placement.place(inPool(1, { ...rules, affinity: 'a' }, { limits }));
      const other = await placement.place(inPool(2, { ...rules, affinity: 'b' }, { limits }));
      expect(other).toMatchObject({ sandboxId: S1, created: false, decision: { chosen: S1 } });
    });

    it('takes nobody in whose attempt is over', async () => {
      const { placement, records } = await open();
      await records.project([runItemRow('k1', { left: [C1] })]);
      expect(placedIn(await placement.place(inPool(1)))).toBe('not_found');
      expect(await records.sandboxes()).toEqual([]);
    });

    it('never has more sandboxes than its size, nor more in one than it may, however many ask at once', async () => {
      const { placement, records } = await open();
      const rules = { size: 3, maxPerSandbox: 2, affinity: null };
      const asked = Array.from({ length: 40 }, (_, index) =>
        placement.place(inPool(100 + index, { ...rules, affinity: `a${index % 5}` })),
      );
      const warmed = Array.from({ length: 5 }, (_, index) =>
        placement.reserveSandbox({
          sandboxId: sandboxNumber(500 + index),
          userId: USER,
          limits: LIMITS,
          now: NOW,
          pool: { poolId: RUN, size: 3 },
        }),
      );
      const outcomes = await Promise.all(asked);
      await Promise.all(warmed);
      expect(await records.sandboxes()).toHaveLength(3);
      const homes = outcomes.flatMap((outcome) => (outcome.kind === 'placed' ? [outcome.sandboxId] : []));
      expect(homes).toHaveLength(6);
      for (const home of homes) expect(homes.filter((other) => other === home)).toHaveLength(2);
    });

    it('makes sandboxes ahead, each once, up to its size', async () => {
      const { placement, records } = await open();
      const reserve = (index: number) =>
        placement.reserveSandbox({
          sandboxId: sandboxNumber(index),
          userId: USER,
          limits: LIMITS,
          now: NOW,
          pool: { poolId: RUN, size: 2 },
        });
      expect([await reserve(1), await reserve(1), await reserve(2)]).toEqual(
        Array.from({ length: 3 }, () => ({ kind: 'granted' })),
      );
      expect(await reserve(3)).toEqual({ kind: 'refused', limit: 2, current: 2 });
      expect(await records.sandbox(S1)).toMatchObject({ createdBy: 'placement', status: 'STARTING' });
      expect(await records.sandbox(S3)).toBeNull();
      expect(placedIn(await placement.place(inPool(7, { size: 2 })))).toBe(S1);
      await placement.place(inPool(8, { size: 2 }));
      expect(placedIn(await placement.place(inPool(9, { size: 2 })))).toBe('pool_full');
      expect(placedIn(await placement.place(placeRequest(10, { userId: userId('eve') })))).toBe(
        sandboxNumber(10),
      );
    });

    it('is not claimed by its run while the item of somebody in it goes on', async () => {
      const { placement, records } = await open();
      await placement.place(inPool(1));
      await records.project([sandboxRow(S1), { ...conversationRow(C1), runId: RUN }]);
      const claim = () => placement.claim({ sandboxId: S1, runId: RUN, toRemove: true });
      expect(await claim()).toBe('others');
      await records.project([runItemRow('k1', { left: [C1] })]);
      expect(await claim()).toBe('ours');
      expect(placedIn(await placement.place(inPool(2)))).toBe(S2);
    });
  });
}
