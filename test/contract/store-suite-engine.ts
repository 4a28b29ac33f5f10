/** The contract of EngineStore: one commit is whole or nothing, and an older record never wins. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isNewer, type Stamp } from '../../core/machine/snapshot.ts';
import type { CommitBatch } from '../../ports/engine-store.ts';
import type { Store } from '../../store/open-store.ts';
import {
  batch,
  conversationNumber,
  conversationRow,
  entity,
  inboxEntry,
  outboxEntry,
  runItemRow,
  runRow,
  sandboxNumber,
  sandboxRow,
  NOW,
} from './store-rows.ts';
import type { OpenEmptyStore } from './store-harness.ts';

const SANDBOX = { machine: 'sandbox', id: sandboxNumber(1) } as const;
const CONVERSATION = { machine: 'conversation', id: conversationNumber(1) } as const;

export function engineSuite(open: OpenEmptyStore): void {
  describe('EngineStore', () => {
    it('keeps the latest state of an entity', async () => {
      const { engine } = await open();
      const state = { text: 'naïve \u0000 \ud800', list: [1.5, null, true] };
      await engine.commit(batch({ entities: [entity(SANDBOX), entity(SANDBOX, { state, deadline: NOW })] }));
      expect(await engine.load(SANDBOX)).toEqual({ address: SANDBOX, state, deadline: NOW, done: false });
      expect(await engine.load(CONVERSATION)).toBeNull();
    });

    it('arms what has a deadline and is not done', async () => {
      const { engine } = await open();
      await engine.commit(
        batch({
          entities: [
            entity(SANDBOX, { deadline: NOW }),
            entity(CONVERSATION, { deadline: NOW, done: true }),
            entity({ machine: 'run', id: 'r' }),
          ],
        }),
      );
      expect(await engine.armed()).toEqual([{ address: SANDBOX, deadline: NOW }]);
      expect((await engine.load(CONVERSATION))?.done).toBe(true);
    });

    it('adds, retries and removes commands', async () => {
      const { engine } = await open();
      const [a, b, c] = [outboxEntry('a'), outboxEntry('b'), outboxEntry('c', { createdAt: NOW + 1 })];
      await engine.commit(
        batch({ outboxAdded: [c, a, b, outboxEntry('gone')], outboxRemoved: ['gone', 'never'] }),
      );
      expect(await engine.outbox()).toEqual([a, b, c]);
      const retried = [
        { commandId: 'a', attempt: 1, notBefore: NOW + 5 },
        { commandId: 'c', attempt: 3, notBefore: NOW + 7 },
        { commandId: 'never', attempt: 1, notBefore: NOW },
      ];
      await engine.commit(
        batch({
          outboxAdded: [outboxEntry('a', { attempt: 9 })],
          outboxRetried: retried,
          outboxRemoved: ['b'],
        }),
      );
      expect(await engine.outbox()).toEqual([
        { ...a, attempt: 1, notBefore: NOW + 5 },
        { ...c, attempt: 3, notBefore: NOW + 7 },
      ]);
    });

    it('keeps the inbox in order of acceptance, each entry once', async () => {
      const { engine } = await open();
      const entries = ['z', 'a', 'm'].map((id) => inboxEntry(id));
      await engine.commit(batch({ inboxAdded: entries }));
      await engine.commit(
        batch({ inboxAdded: [inboxEntry('z', { acceptedAt: 1 }), inboxEntry('b', { acceptedAt: 1 })] }),
      );
      expect((await engine.inbox()).map((entry) => entry.inboxId)).toEqual(['z', 'a', 'm', 'b']);
      await engine.commit(batch({ inboxRemoved: ['a', 'm'], inboxAdded: [inboxEntry('c')] }));
      expect((await engine.inbox()).map((entry) => entry.inboxId)).toEqual(['z', 'b', 'c']);
      expect((await engine.inbox())[0]).toEqual(entries[0]);
    });

    it('takes more rows than one statement holds', async () => {
      const { engine } = await open();
      const ids = Array.from({ length: 3_000 }, (_, index) => `command-${index}`);
      const entities = ids.map((id) => entity({ machine: 'run', id }, { deadline: 1 }));
      await engine.commit(batch({ outboxAdded: ids.map((id) => outboxEntry(id)), entities }));
      expect(await engine.armed()).toHaveLength(3_000);
      await engine.commit(
        batch({
          outboxRetried: ids.map((commandId) => ({ commandId, attempt: 1, notBefore: 0 })),
          outboxRemoved: ids.slice(1),
        }),
      );
      expect(await engine.outbox()).toEqual([outboxEntry('command-0', { attempt: 1, notBefore: 0 })]);
    });

    it.each(Object.entries(BROKEN))('applies nothing when writing the %s fails', async (_, broken) => {
      const store = await open();
      const before = {
        entities: [entity(SANDBOX)],
        outboxAdded: [outboxEntry('a')],
        projections: [sandboxRow(sandboxNumber(1))],
      };
      await store.engine.commit(batch(before));
      const found = await contents(store);
      await expect(store.engine.commit(broken)).rejects.toMatchObject({ code: 'store_unavailable' });
      expect(await contents(store)).toEqual(found);
      await store.engine.commit(GOOD);
      expect(await contents(store)).not.toEqual(found);
    });

    it('never lets an older record win', async () => {
      const store = await open();
      let round = 0;
      await fc.assert(
        fc.asyncProperty(STAMPS, fc.nat(4), async (stamps, sizeLess1) => {
          round += 1;
          const newest = stamps.reduce((best, stamp) => (isNewer(stamp, best) ? stamp : best));
          for (let start = 0; start < stamps.length; start += sizeLess1 + 1) {
            const rows = stamps.slice(start, start + sizeLess1 + 1).map((stamp) => rowsOf(round, stamp));
            await store.records.project(rows.flat());
          }
          const named = { ...newest, detail: nameOf(newest) };
          expect(await store.records.sandbox(sandboxNumber(round))).toMatchObject(named);
          const conversation = await store.records.conversation(conversationNumber(round));
          expect(conversation).toMatchObject({ ...newest, startTaskDetail: nameOf(newest) });
          const item = (await store.records.runItems(runRow().runId)).find(
            (row) => row.key === String(round),
          );
          expect(item).toMatchObject(named);
          expect(await store.records.run(runRow().runId)).not.toBeNull();
        }),
        { numRuns: 30 },
      );
    });
  });
}

/** Distinct stamps in any order: two different rows never have the same. */
const STAMPS = fc.uniqueArray(
  fc.record({ generation: fc.integer({ min: 1, max: 4 }), sequence: fc.integer({ min: 1, max: 6 }) }),
  {
    minLength: 1,
    maxLength: 12,
    selector: nameOf,
  },
);

function nameOf(stamp: Stamp): string {
  return `${stamp.generation}.${stamp.sequence}`;
}

function rowsOf(index: number, stamp: Stamp) {
  const detail = nameOf(stamp);
  return [
    sandboxRow(sandboxNumber(index), { ...stamp, detail }),
    conversationRow(conversationNumber(index), { ...stamp, startTaskDetail: detail }),
    runRow(stamp),
    runItemRow(String(index), { ...stamp, detail }),
  ];
}

const GOOD: CommitBatch = batch({
  entities: [entity(SANDBOX, { state: { changed: true } }), entity(CONVERSATION)],
  outboxAdded: [outboxEntry('b')],
  outboxRemoved: ['a'],
  inboxAdded: [inboxEntry('i')],
  projections: [sandboxRow(sandboxNumber(1), { sequence: 2 }), runRow()],
});

/** A column that must not be null is, in the part of that name; what comes before it was already written. */
const missing = null as unknown as number;
const BROKEN: Readonly<Record<string, CommitBatch>> = {
  entities: {
    ...GOOD,
    entities: [...GOOD.entities, entity({ machine: 'run', id: missing as unknown as string })],
  },
  outbox: { ...GOOD, outboxAdded: [outboxEntry('c', { createdAt: missing })] },
  inbox: { ...GOOD, inboxAdded: [inboxEntry('c', { acceptedAt: missing })] },
  projections: { ...GOOD, projections: [...GOOD.projections, runItemRow('k', { sequence: missing })] },
};

async function contents({ engine, records }: Store): Promise<unknown> {
  return {
    entities: [await engine.load(SANDBOX), await engine.load(CONVERSATION)],
    outbox: await engine.outbox(),
    inbox: await engine.inbox(),
    records: [await records.sandboxes(), await records.runs(), await records.runItems(runRow().runId)],
  };
}
