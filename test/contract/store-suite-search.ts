/** The contract of RecordSearch: a record with what is shown beside it, by id and page by page. */
import { describe, expect, it } from 'vitest';
import { userId } from '../../core/ids.ts';
import { nanoUsd } from '../../core/money.ts';
import { CONVERSATION_ORDERS, type Cursor } from '../../ports/record-search.ts';
import {
  conversationNumber,
  conversationRow,
  NOW,
  sandboxNumber,
  sandboxRow,
  spendRow,
  USER,
} from './store-rows.ts';
import type { OpenEmptyStore } from './store-harness.ts';

export function searchSuite(open: OpenEmptyStore): void {
  describe('RecordSearch', () => {
    it('shows a conversation with its sandbox and what its calls came to', async () => {
      const { records, spend, search } = await open();
      const sandbox = sandboxRow(sandboxNumber(1));
      const row = conversationRow(conversationNumber(1), { sandboxId: sandbox.sandboxId });
      const alone = conversationRow(conversationNumber(2), { title: 'two\nlines' });
      const foreign = conversationRow(conversationNumber(3), { userId: userId('ben') });
      await records.project([sandbox, row, alone, foreign]);
      await spend.write([
        spendRow('a', {
          modelName: 'a "small"\nmodel',
          cost: nanoUsd(5),
          promptTokens: 1,
          completionTokens: 2,
        }),
        spendRow('b', { modelName: 'a', cost: null, promptTokens: null, completionTokens: 7 }),
      ]);
      const ids = [foreign, alone, row].map(({ conversationId }) => conversationId);
      const [none, second, first] = await search.fullConversations(USER, ids);
      expect(none).toBeNull();
      expect(second).toEqual({ row: alone, sandbox: null, usage: null });
      expect(first).toMatchObject({ row, sandbox });
      expect(first?.usage).toMatchObject({
        conversationId: row.conversationId,
        modelName: 'a "small"\nmodel',
        promptTokens: 1,
        completionTokens: 9,
        costNanoUsd: 5,
      });
    });

    it.each(CONVERSATION_ORDERS)('pages by %s in either direction, every record once', async (order) => {
      const { records, search } = await open();
      const rows = [3, 1, 2, 4, 5].map((number) =>
        conversationRow(conversationNumber(number), {
          title: `title ${number % 3}`,
          createdAt: NOW + (number % 2),
          updatedAt: NOW - number,
        }),
      );
      await records.project(rows);
      const whole = async (descending: boolean): Promise<readonly string[]> => {
        const ids: string[] = [];
        for (let after: Cursor | null = null; ;) {
          const page = await search.conversationPage(USER, {}, { order, descending, after, limit: 2 });
          ids.push(...page.map(({ row }) => row.conversationId));
          const last = page.at(-1);
          if (last === undefined) return ids;
          after = last.cursor;
        }
      };
      const up = await whole(false);
      expect([...up].sort()).toEqual(rows.map(({ conversationId }) => conversationId).sort());
      expect(await whole(true)).toEqual([...up].reverse());
    });
  });
}
