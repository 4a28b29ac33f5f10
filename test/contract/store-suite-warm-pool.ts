/** The contract of WarmPool and of claims on it: one of its sandboxes gets an owner once, and no limit is evaded. */
import { describe, expect, it } from 'vitest';
import { userId } from '../../core/ids.ts';
import type { PlaceOutcome } from '../../ports/placement-store.ts';
import type { Store } from '../../store/open-store.ts';
import {
  conversationNumber,
  LIMITS,
  NOW,
  placeRequest,
  sandboxNumber,
  sandboxRow,
  USER,
} from './store-rows.ts';
import type { OpenEmptyStore } from './store-harness.ts';

const SPEC = 'as configured';
const USE = { spec: SPEC, bootedAfter: NOW - 1_000 };
const [W1, W2, W3] = [sandboxNumber(901), sandboxNumber(902), sandboxNumber(903)];
const NEW = { strategy: 'NO_GROUPING' } as const;

type Warm = typeof W1;

async function reserved({ warmPool }: Store, id: Warm, now = NOW): Promise<void> {
  const outcome = await warmPool.reserve({ sandboxId: id, spec: SPEC, limits: LIMITS, now });
  expect(outcome).toEqual({ kind: 'granted' });
}

async function ready(store: Store, ...ids: readonly Warm[]): Promise<void> {
  for (const [index, id] of ids.entries()) {
    await reserved(store, id);
    expect(await store.warmPool.ready(id, NOW + index)).toBe(true);
  }
}

const placedIn = (outcome: PlaceOutcome): string =>
  outcome.kind === 'placed' ? outcome.sandboxId : outcome.kind;

export function warmPoolSuite(open: OpenEmptyStore): void {
  describe('WarmPool', () => {
    it('offers what is ready, of the wished kind and young enough, the oldest first', async () => {
      const store = await open();
      const { warmPool, records } = store;
      await ready(store, W2, W1);
      await reserved(store, W3, NOW + 5);
      expect((await warmPool.usable(USE)).map((one) => one.sandboxId)).toEqual([W2, W1]);
      expect(await warmPool.usable({ ...USE, bootedAfter: NOW })).toMatchObject([{ sandboxId: W1 }]);
      expect(await warmPool.usable({ ...USE, spec: 'of before' })).toEqual([]);
      expect(await warmPool.held()).toEqual([
        { sandboxId: W1, state: 'ready', spec: SPEC, reservedAt: NOW, bootedAt: NOW + 1 },
        { sandboxId: W2, state: 'ready', spec: SPEC, reservedAt: NOW, bootedAt: NOW },
        { sandboxId: W3, state: 'booting', spec: SPEC, reservedAt: NOW + 5, bootedAt: null },
      ]);
      expect(await records.sandboxes()).toEqual([]);
    });

    it('holds slots of the installation, and of no user', async () => {
      const { warmPool, placement, search } = await open();
      const limits = { ...LIMITS, installationMax: 2, userMax: 1 };
      const reserve = (id: Warm) => warmPool.reserve({ sandboxId: id, spec: SPEC, limits, now: NOW });
      expect(await reserve(W1)).toEqual({ kind: 'granted' });
      expect(await reserve(W1)).toEqual({ kind: 'granted' });
      expect(await search.slotsTaken(USER)).toEqual({ user: 0, installation: 1 });
      expect(await placement.place(placeRequest(1, { ...NEW, limits }))).toMatchObject({ kind: 'placed' });
      expect(await reserve(W2)).toEqual({ kind: 'refused', limit: 2, current: 2, position: 1 });
      expect(await warmPool.giveUp(W1)).toBe(true);
      expect(await reserve(W2)).toMatchObject({ kind: 'refused' });
      await warmPool.removed(W1);
      expect(await reserve(W2)).toEqual({ kind: 'granted' });
    });

    it('gives one up once, and forgets only what was given up', async () => {
      const store = await open();
      const { warmPool, search } = store;
      await ready(store, W1);
      await warmPool.removed(W1);
      expect(await warmPool.held()).toHaveLength(1);
      expect(await warmPool.giveUp(W1)).toBe(true);
      expect(await warmPool.giveUp(W1)).toBe(false);
      expect(await warmPool.ready(W1, NOW)).toBe(false);
      expect(await warmPool.figures()).toEqual({ booting: 0, ready: 0, leaving: 1 });
      await warmPool.removed(W1);
      await warmPool.removed(W1);
      expect(await warmPool.held()).toEqual([]);
      expect(await search.slotsTaken(USER)).toEqual({ user: 0, installation: 0 });
    });
  });

  describe('A claim on the warm pool', () => {
    it('gives the sandbox its owner, with its slot and the time of its boot', async () => {
      const store = await open();
      const { placement, warmPool, records, search } = store;
      await ready(store, W1);
      expect(await search.sandboxesById(USER, [W1])).toEqual([null]);
      const first = await placement.place(placeRequest(1, { ...NEW, warm: W1, now: NOW + 9 }));
      const decision = { rule: 'NO_GROUPING', chosen: null, seen: [], bootedAt: NOW };
      expect(first).toEqual({ kind: 'placed', sandboxId: W1, created: true, decision });
      expect(await records.sandbox(W1)).toMatchObject({
        ...{ userId: USER, createdBy: 'placement', status: 'STARTING', generation: 0 },
        ...{ createdAt: NOW + 9, sessionStartedAt: NOW },
      });
      expect(await search.slotsTaken(USER)).toEqual({ user: 1, installation: 1 });
      expect(await placement.place(placeRequest(1, NEW))).toEqual(first);
      expect(await warmPool.held()).toEqual([]);
      expect(await warmPool.giveUp(W1)).toBe(false);
      await warmPool.removed(W1);
      expect(await search.slotsTaken(USER)).toEqual({ user: 1, installation: 1 });
      expect(await warmPool.figures()).toEqual({ booting: 0, ready: 0, leaving: 0 });
    });

    it('succeeds for one of two that come at once, and places nobody for the other', async () => {
      const store = await open();
      const { placement, records } = store;
      for (let round = 0; round < 5; round += 1) {
        const warm = sandboxNumber(910 + round);
        await ready(store, warm);
        const [one, other] = [10 + 2 * round, 11 + 2 * round];
        const limits = { ...LIMITS, userMax: 100 };
        const ask = (index: number) => placement.place(placeRequest(index, { ...NEW, warm, limits }));
        const outcomes = await Promise.all([ask(one), ask(other)]);
        expect(outcomes.map(placedIn).sort()).toEqual([warm, 'warm_lost'].sort());
        const loser = placedIn(outcomes[0]) === warm ? other : one;
        expect(await placement.decision(conversationNumber(loser))).toBeNull();
        expect(await records.sandbox(sandboxNumber(loser))).toBeNull();
        expect(placedIn(await placement.place(placeRequest(loser, { ...NEW, limits })))).toBe(
          sandboxNumber(loser),
        );
      }
    });

    it('is lost for one that was given up, that boots still, or that nobody knows', async () => {
      const store = await open();
      await ready(store, W1);
      await reserved(store, W2);
      await store.warmPool.giveUp(W1);
      for (const warm of [W1, W2, W3]) {
        expect(placedIn(await store.placement.place(placeRequest(1, { ...NEW, warm })))).toBe('warm_lost');
      }
    });

    it('is refused as a new one is when the user has no slot left, and leaves the sandbox to others', async () => {
      const store = await open();
      const { placement, warmPool } = store;
      const limits = { ...LIMITS, userMax: 1 };
      await placement.place(placeRequest(1, { ...NEW, limits }));
      await ready(store, W1);
      expect(await placement.place(placeRequest(2, { ...NEW, limits, warm: W1 }))).toMatchObject({
        kind: 'refused',
        refusal: { code: 'concurrency_limit_reached' },
      });
      expect(await warmPool.usable(USE)).toHaveLength(1);
      const eve = placeRequest(3, { ...NEW, limits, warm: W1, userId: userId('eve') });
      expect(placedIn(await placement.place(eve))).toBe(W1);
    });

    it('is not made where a strategy finds a sandbox of the user', async () => {
      const store = await open();
      await store.records.project([sandboxRow(sandboxNumber(1))]);
      await ready(store, W1);
      expect(placedIn(await store.placement.place(placeRequest(2, { warm: W1 })))).toBe(sandboxNumber(1));
      expect(await store.warmPool.usable(USE)).toHaveLength(1);
    });

    it('is found again by a repeated request of the API, and kept with its owner', async () => {
      const store = await open();
      const { placement, records } = store;
      await ready(store, W1, W2);
      const request = { sandboxId: sandboxNumber(1), userId: USER, limits: LIMITS, now: NOW };
      const granted = { kind: 'granted', sandboxId: W1 };
      expect(await placement.reserveSandbox({ ...request, warm: W1 })).toEqual(granted);
      expect(await placement.reserveSandbox({ ...request, warm: W2 })).toEqual(granted);
      expect(await placement.reserveSandbox(request)).toEqual(granted);
      expect(await records.sandbox(W1)).toMatchObject({ createdBy: 'api', sessionStartedAt: NOW });
      const other = { ...request, sandboxId: sandboxNumber(2), warm: W1 };
      expect(await placement.reserveSandbox(other)).toEqual({ kind: 'warm_lost' });
      expect(await records.sandbox(sandboxNumber(2))).toBeNull();
    });
  });
}
