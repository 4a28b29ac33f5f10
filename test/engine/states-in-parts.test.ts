/** States in parts, over crashes, commits that fail and commits whose outcome is unknown. */
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { MachineEvent } from '../../core/machine/command.ts';
import { wholeState } from '../../core/machine/machine.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { EngineStore } from '../../ports/engine-store.ts';
import { openStore } from '../../store/open-store.ts';
import { beginLife, type EngineLife } from './engine-harness.ts';
import { memoryStore } from './memory-store.ts';
import { A_MOVE, listsMachine, type ListsMove, type ListsState } from './model-lists.ts';
import { turns, until } from './movable-clock.ts';

vi.mock('../../core/machine/machines.ts', async () => {
  const { listsMachine: hosted } = await import('./model-lists.ts');
  return { machineOf: () => hosted };
});

/** What becomes of the commit of the next move. */
type Fate = 'succeeds' | 'fails first' | 'is applied, and its answer lost' | 'dies before' | 'dies after';

const A_FATE: fc.Arbitrary<Fate> = fc.constantFrom(
  ...(['succeeds', 'succeeds', 'succeeds', 'fails first'] as const),
  ...(['is applied, and its answer lost', 'dies before', 'dies after'] as const),
);

type Stored = { readonly engine: EngineStore };

/** A store whose next commit is applied although its caller gets a failure. */
class LosingStore implements EngineStore {
  losesAnswer = false;
  private readonly inner: EngineStore;

  constructor(inner: EngineStore) {
    this.inner = inner;
  }

  load: EngineStore['load'] = (address) => this.inner.load(address);
  armed: EngineStore['armed'] = () => this.inner.armed();
  outbox: EngineStore['outbox'] = () => this.inner.outbox();
  inbox: EngineStore['inbox'] = () => this.inner.inbox();

  async commit(batch: Parameters<EngineStore['commit']>[0]): Promise<void> {
    await this.inner.commit(batch);
    if (!this.losesAnswer) return;
    this.losesAnswer = false;
    throw new ParleyError('store_unavailable', 'Cannot commit a batch: the connection was lost');
  }
}

const deliveryOf = (id: string, move: ListsMove) =>
  ({ to: { machine: 'run', id }, event: move as unknown as MachineEvent }) as Parameters<
    EngineLife['engine']['deliver']
  >[0];

async function storedState({ engine }: Stored, id: string): Promise<ListsState | null> {
  const stored = await engine.load({ machine: 'run', id });
  return stored === null ? null : wholeState(listsMachine, stored);
}

/** One installation over several lives of its engine. */
class Lives {
  private readonly losing: LosingStore;
  private life: EngineLife | null = null;
  private readonly id: string;

  constructor(inner: EngineStore, id: string) {
    this.losing = new LosingStore(inner);
    this.id = id;
  }

  /** The state after the last step that became durable; undefined when there was none. */
  async take(move: ListsMove, fate: Fate): Promise<unknown> {
    this.life ??= await beginLife({ store: { engine: this.losing } });
    const { store, engine, clock } = this.life;
    if (fate === 'dies before') store.commitsLeft = 0;
    if (fate === 'fails first') store.failures = 1;
    if (fate === 'is applied, and its answer lost') this.losing.losesAnswer = true;
    let taken = false;
    void engine.deliver(deliveryOf(this.id, move)).then(() => (taken = true));
    if (fate === 'dies before') await turns();
    else
      await until(async () => {
        await clock.move(1_000);
        return taken;
      });
    // A move that changed nothing wrote nothing, and leaves the wish for the next one.
    store.failures = 0;
    this.losing.losesAnswer = false;
    const after = this.life.steps.splice(0).at(-1)?.after;
    if (fate !== 'dies before' && fate !== 'dies after') return after;
    this.life.crash();
    this.life = null;
    return after;
  }

  end(): void {
    this.life?.crash();
  }
}

async function play(
  store: Stored,
  id: string,
  moves: readonly (readonly [ListsMove, Fate])[],
): Promise<void> {
  const lives = new Lives(store.engine, id);
  let last: unknown = null;
  for (const [move, fate] of moves) {
    last = (await lives.take(move, fate)) ?? last;
    expect(await storedState(store, id)).toEqual(last);
  }
  lives.end();
}

const MOVES = fc.array(fc.tuple(A_MOVE, A_FATE), { maxLength: 25, size: 'max' });

describe('a state in parts', () => {
  it('is always loaded as it was last committed, in memory', async () => {
    await fc.assert(
      fc.asyncProperty(MOVES, (moves) => play(memoryStore(), 'r', moves)),
      { numRuns: 150 },
    );
  });

  it('is always loaded as it was last committed, by a real store', async () => {
    const store = await openStore({ kind: 'sqlite', path: ':memory:' });
    onTestFinished(() => store.close());
    let round = 0;
    await fc.assert(
      fc.asyncProperty(MOVES, (moves) => play(store, `r${(round += 1)}`, moves)),
      { numRuns: 40 },
    );
  });

  it('is written anew after a commit whose answer was lost: what it had changed is not taken for stored', async () => {
    const store = memoryStore();
    const move = (kind: 'append' | 'replace', at: number) =>
      ({ type: 'move', kind, list: 'items', at }) as const;
    const appended = [1, 2, 4, 5, 1].map((at) => [move('append', at), 'succeeds'] as const);
    const lost = [move('replace', 4), 'is applied, and its answer lost'] as const;
    await play(store, 'r', [...appended, lost]);
    const items = (await storedState(store, 'r'))?.lists['items'] ?? [];
    expect(items.filter((element) => typeof element === 'object' && element.from === 6)).toHaveLength(1);
  });
});
