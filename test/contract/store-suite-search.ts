/** The contract of RecordSearch: a record with what is shown beside it, by id and page by page. */
import { describe, expect, it } from 'vitest';
import { runId, userId } from '../../core/ids.ts';
import { nanoUsd } from '../../core/money/money.ts';
import { CONVERSATION_ORDERS, type Cursor, type RunFilter } from '../../ports/record-search.ts';
import {
  conversationNumber,
  conversationRow,
  NOW,
  runRow,
  sandboxNumber,
  sandboxRow,
  spendRow,
  USER,
} from './store-rows.ts';
import type { OpenEmptyStore } from './store-harness.ts';

export function searchSuite(open: OpenEmptyStore): void {
  describe('RecordSearch', () => {
    it('finds the runs of a job, those that go on or those that have ended', async () => {
      const { records, search } = await open();
      const run = (id: string, name: string, phase: 'finished' | 'running') =>
        runRow({ runId: runId(id), userId: USER, name, phase, createdAt: NOW });
      await records.project([
        ...[run('a', 'nightly', 'finished'), run('b', 'nightly', 'running'), run('c', 'other', 'running')],
        // A name in another field is none.
        runRow({ runId: runId('d'), userId: USER, name: 'x', reason: '"name":"nightly"', createdAt: NOW }),
      ]);
      const page = { after: null, limit: 10, descending: true };
      const found = async (filter: RunFilter) =>
        (await search.runs(page, USER, filter)).map(({ runId: id }) => id).join(' ');
      expect(await found({ name: 'nightly' })).toBe('b a');
      expect(await found({ name: 'nightly', state: 'open' })).toBe('b');
      expect(await found({ name: 'nightly', state: 'finished' })).toBe('a');
      expect(await found({ name: "nightly' or 1=1" })).toBe('');
    });

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

    it('gives everybody who asks in the same moment their own, and nothing that is another user has', async () => {
      const { records, search } = await open();
      const users = [USER, userId('ben'), userId('cy')];
      const rows = users.map((user, i) => conversationRow(conversationNumber(i + 1), { userId: user }));
      const boxes = users.map((user, i) => sandboxRow(sandboxNumber(i + 1), { userId: user }));
      await records.project([...rows, ...boxes]);
      const ids = rows.map(({ conversationId }) => conversationId);
      const sandboxIds = boxes.map(({ sandboxId }) => sandboxId);
      const answers = await Promise.all(
        users.map(async (user) => ({
          user,
          full: await search.fullConversations(user, ids),
          own: await search.conversationsById(user, ids),
          sandboxes: await search.sandboxesById(user, sandboxIds),
        })),
      );
      for (const [i, { user, full, own, sandboxes }] of answers.entries()) {
        const only = <T>(found: readonly T[]): readonly (T | null)[] =>
          users.map((other, at) => (other === user ? (found[at] ?? null) : null));
        expect(full.map((one) => one?.row ?? null)).toEqual(only(rows));
        expect(own).toEqual(only(rows));
        expect(sandboxes).toEqual(only(boxes));
        expect(own[i]).not.toBeNull();
      }
    });

    it('shows what has changed since it was last read', async () => {
      const { records, search } = await open();
      const row = conversationRow(conversationNumber(1), { title: 'old' });
      const read = async (): Promise<string | null | undefined> =>
        (await search.fullConversations(USER, [row.conversationId]))[0]?.row.title;
      await records.project([row]);
      expect(await read()).toBe('old');
      await records.project([{ ...row, title: 'new', sequence: row.sequence + 1 }]);
      expect(await read()).toBe('new');
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
          ids.push(...page.map(({ full }) => full.row.conversationId));
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
