/** The contract of Overview: slots and the line, sums of spend, what is in sandboxes, and what failed. */
import { describe, expect, it } from 'vitest';
import { runId, userId } from '../../core/ids.ts';
import { nanoUsd } from '../../core/money/money.ts';
import { SPEND_DIMENSIONS } from '../../ports/overview.ts';
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

const DAY_MS = 86_400_000;
const BEN = userId('ben');

export function overviewSuite(open: OpenEmptyStore): void {
  describe('Overview', () => {
    it('sums each call once in every dimension, tags that no column can hold left out', async () => {
      const { spend, overview, records, accounts } = await open();
      await records.project([
        conversationRow(conversationNumber(1), { tags: { team: 'blue', shard: '1' } }),
        conversationRow(conversationNumber(2), { userId: BEN, tags: {} }),
      ]);
      const call = (id: string, change: object) =>
        spendRow(id, {
          startedAt: DAY_MS + 5,
          endedAt: DAY_MS + 6,
          state: 'succeeded',
          user: null,
          ...change,
        });
      await spend.write([
        call('a', { sessionId: conversationNumber(1), cost: nanoUsd(5), modelName: 'm' }),
        call('b', {
          sessionId: conversationNumber(2),
          cost: nanoUsd(7),
          modelName: 'm',
          tags: ['night', 'long'],
        }),
        call('c', { sessionId: null, cost: nanoUsd(11), modelName: 'n', tags: ['a\u0000b', 'c\ud800'] }),
        call('d', { sessionId: null, cost: nanoUsd(13), modelName: 'o', startedAt: 5, keyName: 'ci' }),
      ]);
      const interval = { from: 0, to: 2 * DAY_MS, bucketMs: DAY_MS };
      const sums = async (by: (typeof SPEND_DIMENSIONS)[number], user: typeof USER | null = null) =>
        (await overview.spend({ ...interval, by, userId: user })).map(({ at, kind, name, cost }) => [
          at / DAY_MS,
          ...(kind === 'named' ? [name] : [kind]),
          cost,
        ]);
      const all = [
        [0, 'o', 13],
        [1, 'm', 12],
        [1, 'n', 11],
      ];
      expect(await sums('model')).toEqual(all);
      expect(await sums('tag')).toEqual([
        ...[
          [0, 'none', 13],
          [1, 'long', 7],
          [1, 'night', 7],
          [1, 'shard=1', 5],
          [1, 'team=blue', 5],
        ],
      ]);
      expect(await sums('user', BEN)).toEqual([[1, 'ben', 7]]);
      expect((await sums('key'))[0]).toEqual([0, 'ci', 13]);
      await accounts.fold(DAY_MS, 10);
      expect(await sums('model')).toEqual(all);
      for (const by of SPEND_DIMENSIONS) expect((await sums(by)).length).toBeGreaterThan(0);
    });

    it('tells what is in sandboxes, the newest of each, and nothing of others', async () => {
      const { records, overview } = await open();
      const [one, two] = [sandboxNumber(1), sandboxNumber(2)];
      await records.project([
        ...[1, 2, 3].map((i) =>
          conversationRow(conversationNumber(i), { sandboxId: one, updatedAt: NOW + i }),
        ),
        conversationRow(conversationNumber(4), { sandboxId: one, userId: BEN }),
      ]);
      const inside = await overview.insideOf(USER, [one, two], 2);
      expect(inside.get(one)?.total).toBe(3);
      expect(inside.get(one)?.newest.map(({ conversationId: id }) => id)).toEqual(
        [3, 2].map(conversationNumber),
      );
      expect(inside.has(two)).toBe(false);
      expect((await overview.insideOf(USER, [], 2)).size).toBe(0);
    });

    it('finds failed starts, sandboxes and last steps, newest first, and forgets what began anew', async () => {
      const { records, overview, lifecycle } = await open();
      const failed = conversationRow(conversationNumber(1), { startTask: 'ERROR', updatedAt: NOW });
      await records.project([
        failed,
        conversationRow(conversationNumber(2), { startTask: 'ERROR', updatedAt: NOW + 1, userId: BEN }),
        conversationRow(conversationNumber(3), { updatedAt: NOW + 2 }),
        sandboxRow(sandboxNumber(1), { status: 'MISSING', detail: 'runtime_gone' }),
        sandboxRow(sandboxNumber(2), { status: 'MISSING', detail: 'deleted' }),
        sandboxRow(sandboxNumber(3), { status: 'ERROR', createdAt: NOW + 1 }),
        runRow({ runId: runId('r1'), name: 'nightly' }),
      ]);
      const about = { machine: 'run', id: 'r1' } as const;
      await lifecycle.record({ about, conversationId: null, code: 'finally_failed', detail: 'no' }, NOW);
      await lifecycle.record({ about, conversationId: null, code: 'amended', detail: 'x' }, NOW);
      const wanted = { userId: null, since: NOW, limit: 10 };
      const starts = async (user: typeof USER | null = null) =>
        (await overview.failedStarts({ ...wanted, userId: user })).map((row) => row.conversationId);
      expect(await starts()).toEqual([2, 1].map(conversationNumber));
      expect(await starts(BEN)).toEqual([conversationNumber(2)]);
      expect(await overview.failedStarts({ ...wanted, since: NOW + 2 })).toEqual([]);
      expect((await overview.failedSandboxes(wanted)).map((row) => row.sandboxId)).toEqual(
        [3, 1].map(sandboxNumber),
      );
      expect(await overview.failedLastSteps(wanted)).toEqual([
        { runId: 'r1', name: 'nightly', detail: 'no', at: NOW },
      ]);
      await records.project([{ ...failed, sequence: 2, startTask: 'READY' }]);
      expect(await starts()).toEqual([conversationNumber(2)]);
    });

    it('counts slots and shows who stands in the line', async () => {
      const { overview, placement } = await open();
      const limits = { installationMax: 1, userMax: 1, conversationsPerSandboxMax: 1 };
      const place = (i: number, user: typeof USER) =>
        placement.place({
          ...{
            conversationId: conversationNumber(i),
            userId: user,
            strategy: 'NO_GROUPING',
            sandboxId: null,
          },
          ...{ excluded: [], waits: true, newSandboxId: sandboxNumber(i), limits, now: NOW },
        });
      for (const i of [1, 2]) await place(i, USER);
      await place(3, BEN);
      expect(await overview.capacity({ userId: null, now: NOW })).toEqual({
        ...{ taken: 1, waiting: 2, holders: [{ userId: USER, taken: 1 }] },
      });
      expect((await overview.capacity({ userId: BEN, now: NOW })).holders).toEqual([]);
      const page = { userId: null, now: NOW, after: null, limit: 1 };
      const [first] = await overview.line(page);
      expect(first).toMatchObject({ waiterId: conversationNumber(2), takenByUser: 1, title: null });
      const after = { value: first?.order ?? 0, id: '' };
      expect(await overview.line({ ...page, after })).toMatchObject([{ userId: BEN, takenByUser: 0 }]);
      expect(await overview.line({ ...page, userId: BEN })).toMatchObject([{ userId: BEN }]);
    });
  });
}
