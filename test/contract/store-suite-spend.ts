/** The contract of SpendLog: one row per call, exact amounts, pages that add up to the whole. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nanoUsd } from '../../core/money/money.ts';
import type { SpendRow, SpendRowState } from '../../core/money/spend.ts';
import type { SpendQuery } from '../../ports/spend-log.ts';
import { conversationNumber, NOW, spendRow } from './store-rows.ts';
import type { OpenEmptyStore } from './store-harness.ts';

const CLOSED: readonly SpendRowState[] = ['succeeded', 'failed', 'aborted'];

export function spendSuite(open: OpenEmptyStore): void {
  describe('SpendLog', () => {
    it('reads rows back exactly', async () => {
      const { spend } = await open();
      const rows = [
        spendRow('a', { cost: nanoUsd(Number.MAX_SAFE_INTEGER), promptTokens: Number.MAX_SAFE_INTEGER }),
        spendRow('b', { cost: null, costSource: 'unpriced', metadata: 'invalid', streamed: false }),
        spendRow('c', {
          state: 'open',
          endedAt: null,
          httpStatus: null,
          responseId: null,
          sessionId: null,
          user: null,
          metadata: null,
        }),
      ];
      await spend.write(rows);
      await spend.write([]);
      expect(await spend.search({})).toEqual(rows);
    });

    it('stores what no column can hold as a replacement', async () => {
      const { spend } = await open();
      await spend.write([
        spendRow('a', { user: 'a\u0000b', modelName: 'm\u0000', metadata: { x: '\u0000' } }),
      ]);
      const [found] = await spend.search({ model: 'm\u0000' });
      expect(found).toMatchObject({ user: 'a\uFFFDb', modelName: 'm\uFFFD', metadata: { x: '\u0000' } });
    });

    it.each(CLOSED)('never opens a call again that %s', async (state) => {
      const { spend } = await open();
      const opened = spendRow('a', { state: 'open', endedAt: null, cost: null });
      const closed = spendRow('a', { state });
      await spend.write([opened]);
      await spend.write([opened, closed, opened]);
      await spend.write([opened]);
      await spend.write([{ ...opened, state: 'interrupted' }]);
      expect(await spend.search({})).toEqual([closed]);
    });

    it('interrupts what is open, once, and takes a late answer', async () => {
      const { spend } = await open();
      await spend.write([spendRow('a', { state: 'open', endedAt: null }), spendRow('b')]);
      expect(await spend.interruptOpen(NOW + 50)).toBe(1);
      expect(await spend.interruptOpen(NOW + 60)).toBe(0);
      const states = async () => (await spend.search({})).map((row) => [row.state, row.endedAt]);
      expect(await states()).toEqual([
        ['interrupted', NOW + 50],
        ['succeeded', NOW + 10],
      ]);
      await spend.write([spendRow('a', { state: 'failed', endedAt: NOW + 55 })]);
      expect((await states())[0]).toEqual(['failed', NOW + 55]);
    });

    it('says which of many calls have no row', async () => {
      const { spend } = await open();
      const ids = Array.from({ length: 2_500 }, (_, index) => `call-${index}`);
      const known = ids.filter((_, index) => index % 2 === 0);
      await spend.write(known.map((id) => spendRow(id)));
      expect(await spend.missing(ids)).toEqual(ids.filter((_, index) => index % 2 === 1));
      expect(await spend.missing([])).toEqual([]);
    });

    it('searches by window, session and model', async () => {
      const { spend } = await open();
      await spend.write([
        spendRow('a', { startedAt: 10 }),
        spendRow('b', { startedAt: 20, modelName: 'large' }),
        spendRow('c', { startedAt: 30, sessionId: conversationNumber(2) }),
      ]);
      const found = async (query: SpendQuery) => (await spend.search(query)).map((row) => row.callId);
      expect(await found({ from: 10, to: 30 })).toEqual(['a', 'b']);
      expect(await found({ sessionId: conversationNumber(2) })).toEqual(['c']);
      expect(await found({ model: 'large' })).toEqual(['b']);
      expect(await found({ from: 20, model: 'small' })).toEqual(['c']);
      await expect(spend.search({ limit: 1_001 })).rejects.toMatchObject({ code: 'invalid_request' });
    });

    it('gives what joining needs of calls, page by page, and no more', async () => {
      const { spend } = await open();
      const rows = ['a', 'b', 'c', 'd'].map((id, at) =>
        spendRow(id, { startedAt: 10 + (at >> 1), ...(at === 2 ? { team: 't1', responseId: null } : {}) }),
      );
      await spend.write(rows);
      const first = await spend.joinable({ from: 10, to: 12, limit: 3 });
      const after = first.at(-1);
      expect(after).toEqual({
        callId: 'c',
        state: 'succeeded',
        startedAt: 11,
        endedAt: NOW + 10,
        modelName: 'small',
        upstreamModel: 'openai/small',
        httpStatus: 200,
        responseId: null,
        sessionId: conversationNumber(1),
        user: 'ada',
        team: 't1',
        promptTokens: 12,
        completionTokens: 34,
      });
      if (after === undefined) return;
      const rest = await spend.joinable({ from: 10, to: 12, limit: 3, after });
      expect([...first, ...rest].map(({ callId }) => callId)).toEqual(['a', 'b', 'c', 'd']);
      expect(rest[0]).not.toHaveProperty('team');
      expect(await spend.joinable({ from: 10, to: 11 })).toHaveLength(2);
      await expect(spend.joinable({ limit: 1_001 })).rejects.toMatchObject({ code: 'invalid_request' });
    });

    it('searches by key, user, team, tag and metadata, in one way in both dialects', async () => {
      const { spend } = await open();
      const metadata = { project: 'a%_b', n: 7, flag: true, deep: { project: 'p2' } };
      await spend.write([
        spendRow('a', { keyName: 'k1', user: 'ada', team: 't1', tags: ['ci', 'night'], metadata }),
        spendRow('b', { keyName: 'k2', user: 'bob', tags: ['ci-2'], metadata: { project: 'p2' } }),
        spendRow('c', { keyName: 'k2', user: null, team: 't1', tags: ['CI'], metadata: 'invalid' }),
        spendRow('d', { keyName: 'k2', metadata: null, tags: ['a\\b"c'] }),
      ]);
      const found = async (query: SpendQuery) => (await spend.search(query)).map((row) => row.callId);
      expect(await found({ keyName: 'k1' })).toEqual(['a']);
      expect(await found({ user: 'bob' })).toEqual(['b']);
      expect(await found({ team: 't1' })).toEqual(['a', 'c']);
      expect(await found({ tag: 'ci' })).toEqual(['a']);
      expect(await found({ tag: 'CI' })).toEqual(['c']);
      expect(await found({ tag: 'a\\b"c' })).toEqual(['d']);
      expect(await found({ metadata: { project: 'p2' } })).toEqual(['b']);
      expect(await found({ metadata: { project: 'a%_b', n: '7', flag: 'true' } })).toEqual(['a']);
      expect(await found({ metadata: { project: 'axxb' } })).toEqual([]);
      expect(await found({ metadata: { deep: 'p2' } })).toEqual([]);
      expect(await found({ team: 't1', tag: 'ci', limit: 1 })).toEqual(['a']);
    });

    it('pages through rows of one tag although others stand between them', async () => {
      const { spend } = await open();
      const rows = Array.from({ length: 30 }, (_, i) =>
        spendRow(`call-${String(i).padStart(2, '0')}`, { tags: [i % 3 === 0 ? 'wanted' : 'WANTED'] }),
      );
      await spend.write(rows);
      const pages: string[] = [];
      for (let query: SpendQuery = { tag: 'wanted', limit: 4 }; ;) {
        const page = await spend.search(query);
        pages.push(...page.map((row) => row.callId));
        const last = page.at(-1);
        if (last === undefined) break;
        query = { ...query, after: last };
      }
      expect(pages).toEqual(rows.filter((_, i) => i % 3 === 0).map((row) => row.callId));
    });

    it('remembers each loss once, in the order of time', async () => {
      const { spend } = await open();
      const loss = {
        calls: 3,
        costNanoUsd: nanoUsd(7),
        from: NOW,
        to: NOW + 9,
        mayBeMore: false,
        seenAt: NOW,
      };
      const earlier = { ...loss, from: NOW - 5, mayBeMore: true, costNanoUsd: nanoUsd(0) };
      expect(await spend.losses()).toEqual([]);
      for (const one of [loss, { ...loss, seenAt: NOW + 1 }, earlier]) await spend.noteLoss(one);
      expect(await spend.losses()).toEqual([earlier, loss]);
    });

    it('returns pages that add up to the whole, in order, with many calls at one instant', async () => {
      const { spend } = await open();
      const rows = Array.from({ length: 60 }, (_, index) =>
        spendRow(`Call-${(index * 37) % 60}x`, { startedAt: index % 4 }),
      );
      await spend.write(rows);
      const expected = [...rows].sort((a, b) => a.startedAt - b.startedAt || (a.callId < b.callId ? -1 : 1));
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 70 }), async (limit) => {
          const pages: SpendRow[] = [];
          for (let query: SpendQuery = { limit }; ;) {
            const page = await spend.search(query);
            pages.push(...page);
            const last = page.at(-1);
            if (last === undefined) break;
            query = { limit, after: last };
          }
          expect(pages.map((row) => row.callId)).toEqual(expected.map((row) => row.callId));
        }),
        { numRuns: 15 },
      );
    });
  });
}
