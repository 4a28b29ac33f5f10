/** The contract of PlacementStore's line: who waits for a slot, and who is next (D29). */
import { describe, expect, it } from 'vitest';
import { runId } from '../../core/ids.ts';
import { LINE_AGE_MAX_MS } from '../../core/limits.ts';
import type { OpenEmptyStore } from './store-harness.ts';
import {
  conversationNumber,
  LIMITS,
  NOW,
  placeRequest,
  sandboxNumber,
  sandboxRow,
  USER,
} from './store-rows.ts';

export function lineSuite(open: OpenEmptyStore): void {
  describe('PlacementStore line', () => {
    const limits = { ...LIMITS, userMax: 1 };
    const S9 = sandboxNumber(9);
    const ofRun = (index: number) =>
      placeRequest(index, { strategy: 'NO_GROUPING', limits, runId: runId('r'), waits: true });

    it('takes in who finds no slot inside a run, and keeps what gets free for whoever came first', async () => {
      const { placement } = await open();
      const next = async (of = limits) =>
        (await placement.nextInLine({ limits: of, now: NOW })).map(({ waiterId }) => waiterId);
      await placement.place(placeRequest(1, { limits }));
      const slots = { limit: 1, current: 1, ofRun: 0, position: 1 };
      expect(await placement.place(ofRun(2))).toEqual({ kind: 'waits', slots });
      expect(await placement.place(ofRun(3))).toMatchObject({ kind: 'waits' });
      expect(await placement.place(ofRun(2))).toMatchObject({ kind: 'waits' });
      expect(await next()).toEqual([]);
      const two = { ...limits, userMax: 2 };
      expect(await next(two)).toEqual([conversationNumber(2)]);
      const other = placeRequest(4, { strategy: 'NO_GROUPING', limits: two });
      expect(await placement.place(other)).toMatchObject({ kind: 'refused' });
      expect(await placement.place({ ...ofRun(3), limits: two })).toMatchObject({ kind: 'waits' });
      expect(await placement.place({ ...ofRun(2), limits: two })).toMatchObject({ kind: 'placed' });
      expect(await next(two)).toEqual([]);
      const positions = await placement.positions({ limits: two, now: NOW });
      expect([...positions]).toEqual([[conversationNumber(3), 1]]);
      expect(await next({ ...limits, userMax: 3 })).toEqual([conversationNumber(3)]);
    });

    it('forgets who leaves it, who is deleted, and who has not asked for long', async () => {
      const { placement } = await open();
      const next = async (of = limits) =>
        (await placement.nextInLine({ limits: of, now: NOW })).map(({ waiterId }) => waiterId);
      const more = { ...limits, userMax: 9 };
      await placement.place(placeRequest(1, { limits }));
      for (const index of [2, 3, 4]) await placement.place(ofRun(index));
      expect(await next(more)).toEqual([2, 3, 4].map(conversationNumber));
      await placement.place({ ...ofRun(2), onlyLeaves: true });
      await placement.detach(conversationNumber(3));
      expect(await next(more)).toEqual([conversationNumber(4)]);
      expect(await placement.nextInLine({ limits: more, now: NOW + LINE_AGE_MAX_MS })).toEqual([]);
    });

    it('holds resumes and starts over the API as it holds items of runs', async () => {
      const { placement, records } = await open();
      const next = async (of: typeof limits) =>
        (await placement.nextInLine({ limits: of, now: NOW })).map(({ machine, waiterId }) => [
          machine,
          waiterId,
        ]);
      const resume = { sandboxId: S9, generation: 1, userId: USER, waits: true, now: NOW };
      await placement.place(placeRequest(1, { limits }));
      await records.project([sandboxRow(S9, { sequence: 1, transition: 'resuming' })]);
      const start = placeRequest(2, { strategy: 'NO_GROUPING', limits, waits: true });
      const slots = { limit: 1, current: 1, ofRun: null };
      expect(await placement.place(start)).toEqual({ kind: 'waits', slots: { ...slots, position: 1 } });
      expect(await placement.reserveSlot({ ...resume, limits })).toEqual({
        kind: 'waits',
        slots: { ...slots, position: 2 },
      });
      expect(await placement.place(ofRun(3))).toMatchObject({ kind: 'waits', slots: { position: 3 } });
      const three = { ...limits, userMax: 3 };
      expect(await next(three)).toEqual([
        ['conversation', conversationNumber(2)],
        ['sandbox', S9],
      ]);
      expect(await placement.place({ ...ofRun(3), limits: three })).toMatchObject({ kind: 'waits' });
      expect(await placement.reserveSlot({ ...resume, limits: three })).toEqual({ kind: 'granted' });
      expect(await next(three)).toEqual([['conversation', conversationNumber(2)]]);
    });

    it('forgets a resume that was given up', async () => {
      const { placement, records } = await open();
      const more = { ...limits, userMax: 2 };
      await placement.place(placeRequest(1, { limits }));
      await records.project([sandboxRow(S9, { sequence: 1, transition: 'resuming' })]);
      await placement.reserveSlot({
        sandboxId: S9,
        generation: 1,
        userId: USER,
        waits: true,
        limits,
        now: NOW,
      });
      expect(await placement.nextInLine({ limits: more, now: NOW })).toHaveLength(1);
      await records.project([sandboxRow(S9, { sequence: 2, holdsSlot: false })]);
      expect(await placement.nextInLine({ limits: more, now: NOW })).toEqual([]);
    });
  });
}
