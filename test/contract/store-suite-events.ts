/** The contract of EventLog: numbers without gaps, each event once, pages that add up to the whole. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conversationNumber, NOW } from './store-rows.ts';
import type { OpenEmptyStore } from './store-harness.ts';

const C1 = conversationNumber(1);
const event = (id: string, kind = 'MessageEvent') => ({
  id,
  timestamp: '2026-01-01T00:00:00.000001',
  kind,
  n: 1.5,
});
const events = (...ids: readonly string[]) => ids.map((id) => event(id));

export function eventSuite(open: OpenEmptyStore): void {
  describe('EventLog', () => {
    it('numbers events from 1 and skips those it knows', async () => {
      const log = (await open()).events;
      expect(await log.lastReceivedAt(C1)).toBeNull();
      expect(await log.append(C1, events('b', 'a', 'b'), NOW)).toBe(2);
      expect(await log.append(C1, events('a', 'c', 'b'), NOW + 9)).toBe(1);
      expect(await log.append(C1, events('a'), NOW + 99)).toBe(0);
      expect(await log.append(C1, [], NOW + 99)).toBe(0);
      const stored = await log.events(C1, { afterSequence: 0, limit: 1_000 });
      expect(stored.map((one) => [one.sequence, one.eventId])).toEqual([
        [1, 'b'],
        [2, 'a'],
        [3, 'c'],
      ]);
      expect(stored[0]).toEqual({
        sequence: 1,
        eventId: 'b',
        timestamp: event('b').timestamp,
        kind: 'MessageEvent',
        body: event('b'),
      });
      expect(await log.count(C1)).toBe(3);
      expect(await log.lastReceivedAt(C1)).toBe(NOW + 9);
      expect(await log.count(conversationNumber(2))).toBe(0);
    });

    it('keeps the newest instant when an older arrival is stored late', async () => {
      const log = (await open()).events;
      await log.append(C1, events('a'), NOW);
      await log.append(C1, events('b'), NOW - 5);
      expect(await log.lastReceivedAt(C1)).toBe(NOW);
    });

    it('keeps text that no column can hold', async () => {
      const log = (await open()).events;
      const odd = { id: 'x\u0000y', timestamp: 't', kind: 'K\u0000', text: 'a\u0000b \ud800' };
      expect(await log.append(C1, [odd], NOW)).toBe(1);
      expect(await log.append(C1, [odd], NOW)).toBe(0);
      const found = await log.events(C1, { afterSequence: 0, limit: 10, kind: 'K\u0000' });
      expect(found.map((one) => one.body)).toEqual([odd]);
    });

    it('leaves no gap when many append at once', async () => {
      const log = (await open()).events;
      const arrivals = Array.from({ length: 20 }, (_, index) =>
        events(`e${index}`, `e${index + 1}`, 'shared'),
      );
      const counts = await Promise.all(arrivals.map((arrival) => log.append(C1, arrival, NOW)));
      expect(counts.reduce((sum, count) => sum + count)).toBe(22);
      const stored = await log.events(C1, { afterSequence: 0, limit: 1_000 });
      expect(stored.map((one) => one.sequence)).toEqual(Array.from({ length: 22 }, (_, index) => index + 1));
      expect(new Set(stored.map((one) => one.eventId)).size).toBe(22);
    });

    it('returns pages that add up to the whole', async () => {
      const log = (await open()).events;
      const all = Array.from({ length: 50 }, (_, index) => event(`e${index}`, index % 3 === 0 ? 'A' : 'B'));
      await log.append(C1, all, NOW);
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 60 }),
          fc.constantFrom(undefined, 'A', 'B', 'none'),
          async (limit, kind) => {
            const pages: string[] = [];
            for (let afterSequence = 0; ;) {
              const page = await log.events(C1, {
                afterSequence,
                limit,
                ...(kind === undefined ? {} : { kind }),
              });
              expect(page.length).toBeLessThanOrEqual(limit);
              pages.push(...page.map((one) => one.eventId));
              const last = page.at(-1);
              if (last === undefined) break;
              afterSequence = last.sequence;
            }
            expect(pages).toEqual(
              all.filter((one) => kind === undefined || one.kind === kind).map((one) => one.id),
            );
          },
        ),
        { numRuns: 20 },
      );
    });

    it.each([0, 1_001, 1.5])('refuses a page of %s', async (limit) => {
      const log = (await open()).events;
      await expect(log.events(C1, { afterSequence: 0, limit })).rejects.toMatchObject({
        code: 'invalid_request',
      });
    });
  });
}
