/** The contract of EngineStore for states in parts: what is loaded is what the last commit said, in parts or whole. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EngineStore, EntityWrite, Json, ListWrite, StoredEntity } from '../../ports/engine-store.ts';
import { batch, entity, NOW } from './store-rows.ts';
import type { OpenEmptyStore } from './store-harness.ts';

const RUN = { machine: 'run', id: 'r' } as const;
const OTHER = { machine: 'run', id: 'r2' } as const;

type Lists = NonNullable<StoredEntity['lists']>;

const EMPTY: ListWrite = { length: 0, shrinks: false, changed: [] };
const all = (list: readonly Json[]): ListWrite => ({
  length: list.length,
  shrinks: false,
  changed: list.map((state, position) => ({ position, state })),
});

/** Everything, whatever was there before. */
function anew(head: Json, lists: Lists, address: StoredEntity['address'] = RUN): EntityWrite {
  const writes = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, all(list)]));
  return { address, state: head, deadline: NOW, done: false, parts: { anew: true, lists: writes } };
}

/** A change of lists of which some are stored. */
function change(head: Json, lists: Readonly<Record<string, Partial<ListWrite>>>): EntityWrite {
  const writes = Object.fromEntries(
    Object.entries(lists).map(([name, list]) => [name, { ...EMPTY, ...list }]),
  );
  return { address: RUN, state: head, deadline: NOW, done: false, parts: { anew: false, lists: writes } };
}

const stored = (state: Json, lists: Lists): StoredEntity => ({
  address: RUN,
  state,
  lists,
  deadline: NOW,
  done: false,
});

async function commit(engine: EngineStore, ...entities: readonly EntityWrite[]): Promise<void> {
  await engine.commit(batch({ entities }));
}

export function partsSuite(open: OpenEmptyStore): void {
  describe('EngineStore: states in parts', () => {
    it('gives a head and its lists back', async () => {
      const { engine } = await open();
      const lists = { items: [{ text: 'naïve \u0000 \ud800' }, null, 1.5, [true]], none: [], 'a b': ['x'] };
      await commit(engine, anew({ phase: 'running' }, lists), anew(1, { items: ['other'] }, OTHER));
      expect(await engine.load(RUN)).toEqual(stored({ phase: 'running' }, lists));
      expect((await engine.load(OTHER))?.lists).toEqual({ items: ['other'] });
      expect(await engine.armed()).toHaveLength(2);
    });

    it('keeps what a change does not name: it replaces, appends and removes at the end', async () => {
      const { engine } = await open();
      await commit(
        engine,
        anew(1, { items: ['a', 'b', 'c'], sandboxes: ['s'] }),
        anew(1, { items: ['z'] }, OTHER),
      );
      await commit(
        engine,
        change(2, { items: { length: 3, changed: [{ position: 1, state: 'B' }] }, sandboxes: { length: 1 } }),
      );
      expect(await engine.load(RUN)).toEqual(stored(2, { items: ['a', 'B', 'c'], sandboxes: ['s'] }));
      await commit(
        engine,
        change(3, {
          items: { length: 1, shrinks: true },
          sandboxes: { length: 2, changed: [{ position: 1, state: 't' }] },
        }),
      );
      expect(await engine.load(RUN)).toEqual(stored(3, { items: ['a'], sandboxes: ['s', 't'] }));
      await commit(engine, change(4, { items: { length: 0, shrinks: true }, sandboxes: { length: 2 } }));
      await commit(
        engine,
        change(5, {
          items: { length: 2, changed: ['d', 'e'].map((state, position) => ({ position, state })) },
          sandboxes: { length: 2 },
        }),
      );
      expect(await engine.load(RUN)).toEqual(stored(5, { items: ['d', 'e'], sandboxes: ['s', 't'] }));
      expect((await engine.load(OTHER))?.lists).toEqual({ items: ['z'] });
    });

    it('leaves no part behind when a state is written whole or anew', async () => {
      const { engine } = await open();
      await commit(engine, anew(1, { items: ['a', 'b', 'c'] }));
      await commit(engine, entity(RUN, { state: 'whole', done: true }));
      expect(await engine.load(RUN)).toEqual({ address: RUN, state: 'whole', deadline: null, done: true });
      // What was left would now be taken for its own.
      await expectGap(engine, change(2, { items: { length: 3 } }));
      await commit(engine, anew(3, { items: ['x', 'y'] }));
      await commit(engine, anew(4, { items: ['z'] }));
      await expectGap(engine, change(5, { items: { length: 2 } }));
    });

    it('takes several writes of one entity in their order', async () => {
      const { engine } = await open();
      await commit(
        engine,
        anew(1, { items: ['a', 'b'] }),
        anew(1, { items: ['z'] }, OTHER),
        change(2, { items: { length: 3, changed: [{ position: 2, state: 'c' }] } }),
        change(3, { items: { length: 3, changed: [{ position: 0, state: 'A' }] } }),
      );
      expect(await engine.load(RUN)).toEqual(stored(3, { items: ['A', 'b', 'c'] }));
    });

    it('takes more parts than one statement holds', async () => {
      const { engine } = await open();
      const items = Array.from({ length: 3_000 }, (_, index) => ({ index }));
      await commit(engine, anew(0, { items }));
      expect((await engine.load(RUN))?.lists).toEqual({ items });
    });

    it('applies no part of a batch that fails', async () => {
      const { engine } = await open();
      await commit(engine, anew(1, { items: ['a', 'b'] }));
      const missing = null as unknown as number;
      const broken: readonly (readonly EntityWrite[])[] = [
        [
          change(2, {
            items: {
              length: 2,
              changed: [
                { position: 0, state: 'A' },
                { position: missing, state: 'x' },
              ],
            },
          }),
        ],
        [
          change(2, { items: { length: 1, shrinks: true } }),
          entity(OTHER, { done: missing as never, address: { machine: 'run', id: missing as never } }),
        ],
      ];
      for (const entities of broken) {
        await expect(commit(engine, ...entities)).rejects.toMatchObject({ code: 'store_unavailable' });
        expect(await engine.load(RUN)).toEqual(stored(1, { items: ['a', 'b'] }));
      }
    });

    it('always loads what was written last, over any sequence of writes', async () => {
      const { engine } = await open();
      let round = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(A_WRITE, { maxLength: 15 }), async (moves) => {
          round += 1;
          const address = { machine: 'run', id: `r${round}` } as const;
          let last: StoredEntity | null = null;
          for (const [index, move] of moves.entries()) {
            const write = { ...writeOf(last, move, index), address };
            await commit(engine, write);
            last = after(last, write);
            expect(await engine.load(address)).toEqual(last);
          }
        }),
        { numRuns: 12 },
      );
    });
  });
}

/** A state that is not there as a whole is an error, never a state with a gap. */
async function expectGap(engine: EngineStore, write: EntityWrite): Promise<void> {
  await commit(engine, write);
  await expect(engine.load(RUN)).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringMatching(/^Cannot load the run "r": element \d+ of its list "items" is missing$/),
  });
}

const A_WRITE = fc.record({
  kind: fc.constantFrom('whole', 'anew', 'change', 'change', 'change'),
  lengths: fc.tuple(fc.nat(6), fc.nat(6)),
  touched: fc.array(fc.nat(5), { maxLength: 3 }),
});

type Move = typeof A_WRITE extends fc.Arbitrary<infer Value> ? Value : never;

function writeOf(last: StoredEntity | null, { kind, lengths, touched }: Move, head: number): EntityWrite {
  if (kind === 'whole') return entity(RUN, { state: { whole: head } });
  const sizes = { items: lengths[0], sandboxes: lengths[1] };
  const fill = (name: string, position: number): Json => `${name} ${position} of ${head}`;
  if (kind === 'anew' || last?.lists === undefined) {
    const lists = Object.entries(sizes).map(([name, length]) => [
      name,
      Array.from({ length }, (_, position) => fill(name, position)),
    ]);
    return anew(head, Object.fromEntries(lists) as Lists);
  }
  const { lists } = last;
  const changes = Object.entries(sizes).map(([name, length]) => {
    const before = lists[name]?.length ?? 0;
    const positions = [...new Set([...touched, ...Array.from({ length }, (_, at) => at).slice(before)])];
    const changed = positions
      .filter((position) => position < length)
      .map((position) => ({ position, state: fill(name, position) }));
    return [name, { length, shrinks: length < before, changed }];
  });
  return change(head, Object.fromEntries(changes) as Record<string, ListWrite>);
}

/** What the store must say after the write. */
function after(
  last: StoredEntity | null,
  { address, state, deadline, done, parts }: EntityWrite,
): StoredEntity {
  if (parts === undefined) return { address, state, deadline, done };
  const lists = Object.entries(parts.lists).map(([name, { length, changed }]) => {
    const list = [...((parts.anew ? undefined : last?.lists?.[name]) ?? [])].slice(0, length);
    for (const one of changed) list[one.position] = one.state;
    return [name, list];
  });
  return { address, state, deadline, done, lists: Object.fromEntries(lists) as Lists };
}
