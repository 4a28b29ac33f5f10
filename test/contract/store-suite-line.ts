/** The contract of PlacementStore's line: who waits for a slot inside a run, and who is next (D29). */
import { describe, expect, it } from 'vitest';
import { runId } from '../../core/ids.ts';
import { LINE_AGE_MAX_MS } from '../../core/limits.ts';
import type { OpenEmptyStore } from './store-harness.ts';
import { conversationNumber, LIMITS, NOW, placeRequest } from './store-rows.ts';

export function lineSuite(open: OpenEmptyStore): void {
  describe('PlacementStore line', () => {
    const limits = { ...LIMITS, userMax: 1 };
    const ofRun = (index: number) =>
      placeRequest(index, { strategy: 'NO_GROUPING', limits, runId: runId('r') });

    it('takes in who finds no slot inside a run, and keeps what gets free for whoever came first', async () => {
      const { placement } = await open();
      const next = (of = limits) => placement.nextInLine({ limits: of, now: NOW });
      await placement.place(placeRequest(1, { limits }));
      const slots = { limit: 1, current: 1, ofRun: 0 };
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
      expect(await next({ ...limits, userMax: 3 })).toEqual([conversationNumber(3)]);
    });

    it('forgets who leaves it, who is deleted, and who has not asked for long', async () => {
      const { placement } = await open();
      const next = (of = limits) => placement.nextInLine({ limits: of, now: NOW });
      const more = { ...limits, userMax: 9 };
      await placement.place(placeRequest(1, { limits }));
      for (const index of [2, 3, 4]) await placement.place(ofRun(index));
      expect(await next(more)).toEqual([2, 3, 4].map(conversationNumber));
      await placement.place({ ...ofRun(2), onlyLeaves: true });
      await placement.detach(conversationNumber(3));
      expect(await next(more)).toEqual([conversationNumber(4)]);
      expect(await placement.nextInLine({ limits: more, now: NOW + LINE_AGE_MAX_MS })).toEqual([]);
    });
  });
}
