/** The contract of the records, plans and small logs. */
import { describe, expect, it } from 'vitest';
import { runId } from '../../core/ids.ts';
import {
  conversationNumber,
  conversationRow,
  plan,
  runItemRow,
  runRow,
  sandboxNumber,
  sandboxRow,
  NOW,
  RUN,
} from './store-rows.ts';
import type { OpenEmptyStore } from './store-harness.ts';

const C1 = conversationNumber(1);
const S1 = sandboxNumber(1);
const EVENT = { id: 'e1', timestamp: '2026-01-01T00:00:00', kind: 'MessageEvent' };

export function recordSuite(open: OpenEmptyStore): void {
  describe('RecordStore', () => {
    it('reads rows back as they were projected', async () => {
      const { records } = await open();
      const rows = [sandboxRow(S1), conversationRow(C1), runRow(), runItemRow('a')] as const;
      await records.project(rows);
      expect(await records.sandbox(S1)).toEqual(rows[0]);
      expect(await records.conversation(C1)).toEqual(rows[1]);
      expect(await records.run(RUN)).toEqual(rows[2]);
      expect(await records.runItems(RUN)).toEqual([rows[3]]);
      const key = rows[3]?.table === 'run_item' ? rows[3].key : '';
      expect(await records.runItem(RUN, key)).toEqual(rows[3]);
      expect(await records.runItem(RUN, 'nobody')).toBeNull();
      expect(await records.sandbox(sandboxNumber(2))).toBeNull();
    });

    it('lists what belongs to a run or a sandbox', async () => {
      const { records } = await open();
      await records.project([
        sandboxRow(S1),
        sandboxRow(sandboxNumber(2)),
        sandboxRow(sandboxNumber(3)),
        conversationRow(C1, { runId: RUN, sandboxId: S1 }),
        conversationRow(conversationNumber(2), { sandboxId: sandboxNumber(3) }),
        runItemRow('a', { sandboxId: sandboxNumber(2) }),
      ]);
      expect(await records.sandboxes()).toHaveLength(3);
      await records.project([sandboxRow(S1, { sequence: 9, status: 'MISSING' })]);
      for (const host of [null, 'any'])
        expect((await records.sandboxes({ host })).map((row) => row.sandboxId)).toEqual([
          sandboxNumber(2),
          sandboxNumber(3),
        ]);
      expect((await records.conversations({ runId: RUN })).map((row) => row.conversationId)).toEqual([C1]);
      expect(await records.conversations({ runId: RUN, sandboxId: sandboxNumber(3) })).toEqual([]);
      expect(await records.conversations()).toHaveLength(2);
    });

    it('lists runs newest first and items in order of first projection', async () => {
      const { records } = await open();
      await records.project(['z', 'a', 'm'].map((key) => runItemRow(key)));
      await records.project([runItemRow('b'), runItemRow('a', { sequence: 2 }), runItemRow('c')]);
      expect((await records.runItems(RUN)).map((row) => row.key)).toEqual(['z', 'a', 'm', 'b', 'c']);
      await records.project([runRow(), runRow({ runId: runId('newer'), createdAt: NOW + 1 })]);
      expect((await records.runs()).map((row) => row.runId)).toEqual(['newer', RUN]);
    });

    it('never brings one back that is deleted while its record is written', async () => {
      const { records } = await open();
      const ids = Array.from({ length: 20 }, (_, n) => conversationNumber(n + 1));
      await records.project(ids.slice(0, 15).map((id) => conversationRow(id)));
      await Promise.all(
        ids.flatMap((id) => [
          records.project([conversationRow(id, { sequence: 7 })]),
          records.removeConversation(id),
          records.project([conversationRow(id, { sequence: 8 })]),
        ]),
      );
      expect(await records.conversations()).toEqual([]);
    });

    it('never brings a deleted conversation back', async () => {
      const { records, events, lifecycle, workspaces, placement } = await open();
      const fact = {
        about: { machine: 'conversation', id: C1 },
        conversationId: C1,
        code: 'refused',
        detail: 'x',
      } as const;
      const write = async (): Promise<void> => {
        await records.project([
          conversationRow(C1, { generation: 9 }),
          conversationRow(conversationNumber(2)),
        ]);
        await events.append(C1, [EVENT], NOW);
        await lifecycle.record(fact, NOW);
        await workspaces.putFacts(C1, { workingDir: '/w', baseCommit: null });
      };
      await write();
      for (let repeat = 0; repeat < 2; repeat += 1) {
        await records.removeConversation(C1);
        expect(await records.conversation(C1)).toBeNull();
        expect(await events.events(C1, { afterSequence: 0, limit: 10 })).toEqual([]);
        expect(await events.count(C1)).toBe(0);
        expect(await lifecycle.lifecycleEvents(C1)).toEqual([]);
        expect(await workspaces.facts(C1)).toBeNull();
        expect(await placement.decision(C1)).toBeNull();
        await write();
      }
      expect(await records.conversations()).toHaveLength(1);
      expect(await events.append(C1, [EVENT], NOW)).toBe(0);
    });
  });

  describe('PlanStore', () => {
    it('keeps a plan for ever', async () => {
      const { plans } = await open();
      expect(await plans.plan(RUN)).toBeNull();
      await plans.putPlan(RUN, plan('h1'));
      await plans.putPlan(RUN, plan('h1'));
      await expect(plans.putPlan(RUN, plan('h2'))).rejects.toMatchObject({ code: 'run_exists' });
      expect(await plans.plan(RUN)).toEqual(plan('h1'));
    });
  });

  describe('small logs', () => {
    it('keeps lifecycle events in order, a repeat once', async () => {
      const { lifecycle } = await open();
      const fact = {
        about: { machine: 'sandbox', id: S1 },
        conversationId: C1,
        code: 'archive_failed',
        detail: 'no space',
      } as const;
      await lifecycle.record(fact, NOW);
      await lifecycle.record(fact, NOW);
      await lifecycle.record(fact, NOW - 1);
      await lifecycle.record({ ...fact, conversationId: null }, NOW);
      await lifecycle.record({ ...fact, conversationId: null }, NOW);
      expect(await lifecycle.lifecycleEvents(C1)).toEqual([
        { ...fact, at: NOW },
        { ...fact, at: NOW - 1 },
      ]);
    });

    it('keeps what happened to a run, apart from its conversations and from other runs', async () => {
      const { lifecycle } = await open();
      const fact = {
        about: { machine: 'run', id: RUN },
        conversationId: null,
        code: 'run_amended',
        detail: 'concurrency 10 -> 3, by ann',
      } as const;
      await lifecycle.record(fact, NOW);
      await lifecycle.record(fact, NOW);
      await lifecycle.record({ ...fact, detail: 'budget none -> $1' }, NOW + 1);
      await lifecycle.record({ ...fact, about: { machine: 'sandbox', id: S1 } }, NOW);
      await lifecycle.record({ ...fact, conversationId: C1 }, NOW);
      expect(await lifecycle.runEvents(RUN)).toEqual([
        { ...fact, at: NOW },
        { ...fact, detail: 'budget none -> $1', at: NOW + 1 },
      ]);
      expect(await lifecycle.runEvents(runId('another-run'))).toEqual([]);
    });

    it('keeps the latest activity', async () => {
      const { activity } = await open();
      expect(await activity.lastActivityAt(S1)).toBeNull();
      for (const at of [NOW, NOW + 5, NOW + 3]) await activity.touch(S1, at);
      expect(await activity.lastActivityAt(S1)).toBe(NOW + 5);
    });

    it('replaces facts, and keeps one archive per generation', async () => {
      const { workspaces, archives } = await open();
      await workspaces.putFacts(C1, { workingDir: '/w', baseCommit: null });
      await workspaces.putFacts(C1, { workingDir: '/w', baseCommit: 'abc' });
      expect(await workspaces.facts(C1)).toEqual({ workingDir: '/w', baseCommit: 'abc' });
      const record = {
        sandboxId: S1,
        generation: 2,
        blobKey: 'a/1',
        sha256: 'f0',
        bytes: 5_000_000_000,
        at: NOW,
      };
      await archives.putArchive(record);
      await archives.putArchive({ ...record, generation: 1 });
      await archives.putArchive({ ...record, blobKey: 'a/2' });
      const stored = { generation: 2, blobKey: 'a/2', sha256: 'f0', bytes: 5_000_000_000, at: NOW };
      const first = { ...stored, generation: 1, blobKey: 'a/1' };
      expect(await archives.archives(S1)).toEqual([first, stored]);
      await archives.putArchive({ ...record, sandboxId: sandboxNumber(9), blobKey: 'a/3' });
      expect(await archives.allArchives()).toEqual(
        expect.arrayContaining([
          { sandboxId: S1, ...first },
          { sandboxId: S1, ...stored },
          { sandboxId: sandboxNumber(9), ...stored, blobKey: 'a/3' },
        ]),
      );
      const listed = (await archives.allArchives()).map(
        ({ sandboxId, generation }) => `${sandboxId} ${generation}`,
      );
      expect(listed).toEqual([...listed].sort());
    });
  });
}
