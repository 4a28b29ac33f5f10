/** The contract of PlacementStore: one decision at a time, never over a limit, never into a dying sandbox. */
import { describe, expect, it } from 'vitest';
import type { PlaceOutcome } from '../../ports/placement-store.ts';
import {
  conversationNumber,
  conversationRow,
  LIMITS,
  NOW,
  placeRequest,
  sandboxNumber,
  sandboxRow,
  USER,
} from './store-rows.ts';
import type { OpenEmptyStore } from './store-harness.ts';
import { userId, type RunId } from '../../core/ids.ts';

const [C1, C2] = [conversationNumber(1), conversationNumber(2)];
const [S1, S2, S3] = [sandboxNumber(1), sandboxNumber(2), sandboxNumber(3)];
const NONE = { sandboxId: null, sandboxToRemove: false };

export function placementSuite(open: OpenEmptyStore): void {
  describe('PlacementStore.place', () => {
    it('records a new sandbox that any projection replaces', async () => {
      const { placement, records } = await open();
      const outcome = await placement.place(placeRequest(1, { strategy: 'NO_GROUPING' }));
      expect(outcome).toMatchObject({
        kind: 'placed',
        sandboxId: S1,
        created: true,
        decision: { chosen: null },
      });
      expect(await records.sandbox(S1)).toMatchObject({
        status: 'STARTING',
        generation: 0,
        sequence: 0,
        createdBy: 'placement',
      });
      expect(await placement.decision(C1)).toEqual({ rule: 'NO_GROUPING', chosen: null, seen: [] });
      await records.project([sandboxRow(S1, { generation: 0, sequence: 1 })]);
      expect(await records.sandbox(S1)).toMatchObject({ status: 'RUNNING' });
    });

    it('says the same again for the same conversation', async () => {
      const { placement, records } = await open();
      const first = await placement.place(placeRequest(1));
      await records.project([sandboxRow(S1)]);
      expect(await placement.place(placeRequest(1, { newSandboxId: S2, strategy: 'NO_GROUPING' }))).toEqual(
        first,
      );
      const second = await placement.place(placeRequest(2));
      expect(second).toMatchObject({
        sandboxId: S1,
        created: false,
        decision: { rule: 'ADD_TO_ANY', chosen: S1 },
      });
      expect(await placement.place(placeRequest(2))).toEqual(second);
      expect(await placement.decision(conversationNumber(9))).toBeNull();
    });

    it('moves a conversation that its sandbox refused', async () => {
      const { placement, records } = await open();
      await placement.place(placeRequest(1));
      await placement.place(placeRequest(2, { strategy: 'NO_GROUPING' }));
      await records.project([sandboxRow(S1), sandboxRow(S2)]);
      const moved = await placement.place(placeRequest(1, { excluded: [S1] }));
      expect(moved).toMatchObject({ sandboxId: S2, created: false });
      expect(await placement.decision(C1)).toMatchObject({
        chosen: S2,
        seen: [{ sandboxId: S1, why: 'refused_before' }, { sandboxId: S2 }],
      });
      expect(await placement.detach(C1)).toEqual({ sandboxId: S2, sandboxToRemove: false });
    });

    it('sees activity and attachments', async () => {
      const { placement, records, activity } = await open();
      await records.project([sandboxRow(S1), sandboxRow(S2, { createdAt: NOW + 1 })]);
      await activity.touch(S1, NOW + 20);
      await activity.touch(S2, NOW + 10);
      const choice = async (
        index: number,
        strategy: 'LEAST_RECENTLY_USED' | 'FEWEST_CONVERSATIONS' | 'GROUP_BY_NEWEST',
      ) => placedIn(await placement.place(placeRequest(index, { strategy })));
      expect(await choice(11, 'LEAST_RECENTLY_USED')).toBe(S2);
      expect(await choice(12, 'FEWEST_CONVERSATIONS')).toBe(S1);
      expect(await choice(13, 'GROUP_BY_NEWEST')).toBe(S2);
      expect(await choice(14, 'FEWEST_CONVERSATIONS')).toBe(S1);
      await records.removeConversation(conversationNumber(11));
      await records.removeConversation(conversationNumber(13));
      expect(await choice(15, 'FEWEST_CONVERSATIONS')).toBe(S2);
    });

    it.each([
      ['ERROR', 'sandbox_error'],
      ['MISSING', 'sandbox_missing'],
    ] as const)('refuses a sandbox in %s that was asked for, and never chooses it', async (status, code) => {
      const { placement, records } = await open();
      await records.project([sandboxRow(S1, { status })]);
      const explicit = await placement.place(placeRequest(2, { sandboxId: S1 }));
      expect(explicit).toMatchObject({ kind: 'refused', refusal: { code } });
      expect(await placement.place(placeRequest(2))).toMatchObject({
        sandboxId: S2,
        created: true,
        decision: { seen: [] },
      });
    });

    it('takes a released sandbox only when asked for, and a foreign one never', async () => {
      const { placement, records } = await open();
      const released = {
        status: 'PAUSED',
        pauseReason: 'idle',
        available: false,
        sessionStartedAt: null,
        holdsSlot: false,
      } as const;
      await records.project([sandboxRow(S1, released), sandboxRow(S2, { userId: userId('eve') })]);
      expect(await placement.place(placeRequest(4, { sandboxId: S1 }))).toMatchObject({
        sandboxId: S1,
        created: false,
      });
      expect(await placement.place(placeRequest(5, { sandboxId: S2 }))).toMatchObject({
        refusal: { code: 'not_found' },
      });
      expect(await placement.place(placeRequest(6))).toMatchObject({ created: true });
    });

    it('refuses a deleted conversation', async () => {
      const { placement, records } = await open();
      await records.removeConversation(C1);
      expect(await placement.place(placeRequest(1))).toMatchObject({
        kind: 'refused',
        refusal: { code: 'not_found' },
      });
      expect(await records.sandboxes()).toEqual([]);
    });

    it('accepts nothing when no slot is free', async () => {
      const { placement, records } = await open();
      const limits = { ...LIMITS, userMax: 1 };
      await placement.place(placeRequest(1, { limits }));
      const outcome = await placement.place(placeRequest(2, { limits }));
      expect(outcome).toMatchObject({ kind: 'refused', refusal: { code: 'concurrency_limit_reached' } });
      expect(outcome.kind === 'refused' && outcome.refusal.reason).toContain(
        '1 sandboxes are up, and the limit is 1',
      );
      expect(await records.sandbox(S2)).toBeNull();
      expect(await placement.decision(C2)).toBeNull();
      expect(await placement.detach(C2)).toEqual(NONE);
    });

    it('refuses again whom it has refused for good, and lets the others ask again', async () => {
      const { placement, records } = await open();
      const full = { ...LIMITS, userMax: 1 };
      const last = placeRequest(2, { limits: full, isFinal: true });
      const asking = placeRequest(3, { limits: full });
      const foreign = placeRequest(4, { sandboxId: S3, isFinal: true });
      await placement.place(placeRequest(1, { limits: full }));
      const outcomes = [await placement.place(last), await placement.place(foreign)];
      expect(outcomes).toMatchObject([
        { refusal: { code: 'concurrency_limit_reached' } },
        { refusal: { code: 'not_found' } },
      ]);
      expect(await placement.place(asking)).toMatchObject({ kind: 'refused' });
      await placement.detach(C1);
      await records.project([sandboxRow(S3)]);
      expect([await placement.place(last), await placement.place(foreign)]).toEqual(outcomes);
      expect(await records.sandbox(S2)).toBeNull();
      expect(await placement.decision(C2)).toBeNull();
      expect(await placement.detach(C2)).toEqual(NONE);
      expect(await placement.place(asking)).toMatchObject({ kind: 'placed' });
    });

    it('places nobody any more who was told to leave only', async () => {
      const { placement, records } = await open();
      await placement.place(placeRequest(1));
      const leaving = { excluded: [S1], onlyLeaves: true, isFinal: true } as const;
      expect(await placement.place(placeRequest(1, leaving))).toMatchObject({ leftBehind: S1 });
      const late = await placement.place(placeRequest(1, { newSandboxId: S2 }));
      expect(late).toMatchObject({ refusal: { code: 'placement_failed' } });
      expect(await records.sandbox(S2)).toBeNull();
    });

    it('never overfills a sandbox, however many ask at once', async () => {
      const { placement, records } = await open();
      const limits = { ...LIMITS, userMax: 1, conversationsPerSandboxMax: 5 };
      await placement.place(placeRequest(1, { limits }));
      await records.project([sandboxRow(S1)]);
      const requests = Array.from({ length: 50 }, (_, index) => placeRequest(100 + index, { limits }));
      const outcomes = await Promise.all(requests.map((request) => placement.place(request)));
      expect(outcomes.filter((outcome) => placedIn(outcome) === S1)).toHaveLength(4);
      expect(outcomes.filter((outcome) => outcome.kind === 'refused')).toHaveLength(46);
    });
  });

  describe('PlacementStore slots', () => {
    it('counts per user and per installation, and takes each slot once', async () => {
      const { placement, records } = await open();
      const reserve = (index: number, user = USER, limits = { ...LIMITS, userMax: 2, installationMax: 3 }) =>
        placement.reserveSandbox({ sandboxId: sandboxNumber(index), userId: user, limits, now: NOW });
      expect(await reserve(1)).toEqual({ kind: 'granted' });
      expect(await reserve(1)).toEqual({ kind: 'granted' });
      expect(await reserve(2)).toEqual({ kind: 'granted' });
      expect(await reserve(3)).toEqual({ kind: 'refused', limit: 2, current: 2, position: 1 });
      expect(await reserve(4, userId('eve'))).toEqual({ kind: 'granted' });
      expect(await reserve(5, userId('eve'))).toEqual({ kind: 'refused', limit: 3, current: 3, position: 1 });
      expect(await records.sandbox(S3)).toBeNull();
      expect(await records.sandbox(S1)).toMatchObject({ createdBy: 'api', status: 'STARTING' });
    });

    it('gives a slot back with the projection that says so, and not with an older one', async () => {
      const { placement, records } = await open();
      const request = {
        userId: USER,
        limits: { ...LIMITS, userMax: 1 },
        generation: 1,
        waits: false,
        now: NOW,
      };
      const take = (id: typeof S1) => placement.reserveSlot({ ...request, sandboxId: id });
      await records.project([sandboxRow(S1, { sequence: 5, transition: 'resuming' })]);
      expect(await take(S1)).toEqual({ kind: 'granted' });
      expect(await take(S1)).toEqual({ kind: 'granted' });
      await records.project([sandboxRow(S1, { sequence: 4, holdsSlot: false })]);
      expect(await take(S2)).toEqual({ kind: 'refused', limit: 1, current: 1, position: 1 });
      await records.project([sandboxRow(S1, { sequence: 6, holdsSlot: false })]);
      expect(await take(S2)).toEqual({ kind: 'granted' });
      expect(await take(S1)).toEqual({ kind: 'not_wanted' });
    });

    it('takes no slot for a resume that was given up before its transaction ran', async () => {
      const { placement, records } = await open();
      const take = (generation: number) =>
        placement.reserveSlot({
          ...{ sandboxId: S1, userId: USER, limits: LIMITS, generation, waits: false },
          now: NOW,
        });
      await records.project([sandboxRow(S1, { sequence: 1, generation: 2, transition: 'resuming' })]);
      expect(await take(1)).toEqual({ kind: 'not_wanted' });
      await records.project([sandboxRow(S1, { sequence: 2, generation: 2, transition: 'deleting' })]);
      expect(await take(2)).toEqual({ kind: 'not_wanted' });
      await records.project([sandboxRow(S1, { sequence: 3, generation: 2, transition: 'resuming' })]);
      expect(await take(2)).toEqual({ kind: 'granted' });
    });

    it('claims a sandbox for a run only when nobody else is attached, and keeps others out then', async () => {
      const { placement, records } = await open();
      const runId = 'run-1' as RunId;
      const claim = (toRemove: boolean) => placement.claim({ sandboxId: S1, runId, toRemove });
      await placement.place(placeRequest(1));
      await records.project([sandboxRow(S1), { ...conversationRow(conversationNumber(1)), runId }]);
      expect(await claim(false)).toBe('ours');
      const whileRunning = { sandboxId: S1, runId, toRemove: true, onlyAtRest: true };
      const works = { runId, sequence: 2, executionStatus: 'RUNNING' } as const;
      await records.project([{ ...conversationRow(conversationNumber(1)), ...works }]);
      expect(await placement.claim(whileRunning)).toBe('busy');
      expect(placedIn(await placement.place(placeRequest(2)))).toBe(S1);
      expect(await claim(true)).toBe('others');
      await records.project([{ ...conversationRow(conversationNumber(2)), runId: 'run-2' as RunId }]);
      expect(await claim(true)).toBe('others');
      await placement.detach(conversationNumber(2));
      expect(await claim(true)).toBe('ours');
      expect(await claim(true)).toBe('ours');
      expect(placedIn(await placement.place(placeRequest(3)))).not.toBe(S1);
    });

    it('finds the sandbox that rests longest, and none where work goes on', async () => {
      const { placement, records, activity } = await open();
      expect(await placement.longestIdle(null)).toBeNull();
      for (const index of [1, 2, 3]) {
        await placement.place(placeRequest(index, { strategy: 'NO_GROUPING' }));
        await records.project([sandboxRow(sandboxNumber(index))]);
        await activity.touch(sandboxNumber(index), NOW + index);
      }
      expect(await placement.longestIdle(null)).toBeNull();
      const rests = (index: number) => conversationRow(conversationNumber(index));
      await records.project([rests(2), rests(3), { ...rests(1), executionStatus: 'RUNNING' }]);
      expect(await placement.longestIdle(null)).toBe(S2);
      expect(await placement.longestIdle(userId('eve'))).toBeNull();
      await records.project([{ ...rests(2), sequence: 2, queuedMessages: 1 }]);
      expect(await placement.longestIdle(USER)).toBe(S3);
      await records.project([sandboxRow(S3, { sequence: 2, available: false })]);
      expect(await placement.longestIdle(USER)).toBeNull();
    });
  });

  describe('PlacementStore.detach', () => {
    it('marks a sandbox that placement made when its last conversation leaves', async () => {
      const { placement, records } = await open();
      await placement.place(placeRequest(1));
      await records.project([sandboxRow(S1)]);
      await placement.place(placeRequest(2));
      expect(await placement.detach(C1)).toEqual({ sandboxId: S1, sandboxToRemove: false });
      expect(await placement.detach(C2)).toEqual({ sandboxId: S1, sandboxToRemove: true });
      expect(await placement.detach(C2)).toEqual({ sandboxId: S1, sandboxToRemove: true });
      await records.project([sandboxRow(S1, { sequence: 9 })]);
      expect(await placement.place(placeRequest(3))).toMatchObject({
        sandboxId: S3,
        decision: { seen: [{ sandboxId: S1, why: 'draining' }] },
      });
      expect(await placement.place(placeRequest(4, { sandboxId: S1 }))).toMatchObject({
        refusal: { code: 'sandbox_missing' },
      });
    });

    it('ends a sandbox that was reserved and never made, with its slot', async () => {
      const { placement, records } = await open();
      const one = { strategy: 'NO_GROUPING', limits: { ...LIMITS, userMax: 1 } } as const;
      expect(await placement.place(placeRequest(1, one))).toMatchObject({ kind: 'placed', sandboxId: S1 });
      expect(await placement.place(placeRequest(2, one))).toMatchObject({ kind: 'refused' });
      expect(await placement.detach(C1)).toEqual({ sandboxId: S1, sandboxToRemove: true });
      expect(await records.sandbox(S1)).toMatchObject({ status: 'MISSING', holdsSlot: false });
      expect(await placement.detach(C1)).toEqual({ sandboxId: S1, sandboxToRemove: true });
      expect(await placement.place(placeRequest(2, one))).toMatchObject({ kind: 'placed', sandboxId: S2 });
    });

    it('places nobody who has left', async () => {
      const { placement } = await open();
      await placement.place(placeRequest(1));
      await placement.detach(C1);
      const late = { kind: 'refused', refusal: { code: 'not_found' } };
      expect(await placement.place(placeRequest(1))).toMatchObject(late);
      expect(await placement.place(placeRequest(1, { excluded: [S1] }))).toMatchObject(late);
    });

    it('does not count whoever a sandbox has refused, and says when nobody is left in it', async () => {
      const { placement, records } = await open();
      const one = { strategy: 'NO_GROUPING', limits: { ...LIMITS, userMax: 1 } } as const;
      await placement.place(placeRequest(1));
      await records.project([sandboxRow(S1)]);
      await placement.place(placeRequest(2));
      const moved = placeRequest(2, { ...one, excluded: [S1] });
      const refused = await placement.place(moved);
      expect(refused).toMatchObject({ kind: 'refused' });
      expect(refused).not.toHaveProperty('leftBehind');
      expect(await placement.detach(C1)).toEqual({ sandboxId: S1, sandboxToRemove: true });
      const again = { kind: 'refused', leftBehind: S1 };
      expect(await placement.place(moved)).toMatchObject(again);
      expect(await placement.place({ ...moved, onlyLeaves: true })).toMatchObject({
        ...again,
        refusal: { code: 'placement_failed' },
      });
      expect(await placement.detach(C2)).toEqual(NONE);
    });

    it('keeps a sandbox that was made through the API', async () => {
      const { placement, records } = await open();
      await records.project([sandboxRow(S1, { createdBy: 'api' })]);
      await placement.place(placeRequest(1));
      expect(await placement.detach(C1)).toEqual({ sandboxId: S1, sandboxToRemove: false });
      expect(await placement.detach(conversationNumber(9))).toEqual(NONE);
      expect(await placement.place(placeRequest(2))).toMatchObject({ sandboxId: S1 });
    });

    it('never lets a conversation into a sandbox that is going', async () => {
      const { placement, records } = await open();
      for (let round = 0; round < 10; round += 1) {
        const [first, second] = [2 * round + 1, 2 * round + 2];
        await placement.place(
          placeRequest(first, { strategy: 'NO_GROUPING', limits: { ...LIMITS, userMax: 100 } }),
        );
        await records.project([sandboxRow(sandboxNumber(first))]);
        const removal = placement.detach(conversationNumber(first));
        const arrival = placement.place(placeRequest(second, { sandboxId: sandboxNumber(first) }));
        const [{ sandboxToRemove }, outcome] =
          round % 2 === 0 ? await Promise.all([removal, arrival]) : await both(arrival, removal);
        expect(outcome.kind).toBe(sandboxToRemove ? 'refused' : 'placed');
      }
    });
  });
}

async function both<A, B>(a: Promise<A>, b: Promise<B>): Promise<[B, A]> {
  const [first, second] = await Promise.all([a, b]);
  return [second, first];
}

function placedIn(outcome: PlaceOutcome): string | null {
  return outcome.kind === 'placed' ? outcome.sandboxId : null;
}
