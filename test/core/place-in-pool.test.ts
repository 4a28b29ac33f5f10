/** The pool of a run: places, size, affinity, recycling, and what becomes of those for whom there is no room. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runId, sandboxId, userId, type SandboxId } from '../../core/ids.ts';
import { MAX_SESSION_MS, SESSION_LEFT_FOR_PLACEMENT_MS } from '../../core/limits.ts';
import { placeWithPool, type PoolPlacement } from '../../core/placement/place-in-pool.ts';
import type {
  Placement,
  PlacementCandidate,
  PlacementQuestion,
  PooledSandbox,
} from '../../core/placement/place.ts';
import { GROUPING_STRATEGIES } from '../../core/status.ts';

const NOW = MAX_SESSION_MS * 2;
const US = userId('us');
const OURS = runId('ours');
const id = (name: string): SandboxId => sandboxId(name.padStart(32, '0'));

const alone = (name: string, change: Partial<PlacementCandidate> = {}): PlacementCandidate => ({
  sandboxId: id(name),
  userId: US,
  status: 'RUNNING',
  available: true,
  draining: false,
  createdAt: NOW - 1_000 + Number.parseInt(name, 16),
  lastActivityAt: NOW - 10,
  sessionStartedAt: NOW - 1_000,
  attachedCount: 7,
  ...change,
});
const pooled = (
  name: string,
  pool: Partial<PooledSandbox> = {},
  change: Partial<PlacementCandidate> = {},
): PlacementCandidate => ({
  ...alone(name, change),
  pool: { poolId: OURS, affinity: null, placedCount: 1, heldCount: 0, ...pool },
});

const POOL: PoolPlacement = {
  poolId: OURS,
  key: 'k',
  affinity: null,
  size: 2,
  maxPerSandbox: 2,
  recycleAfter: null,
  recycleAgeMs: null,
  onFull: 'wait',
};

const ask = (
  candidates: readonly PlacementCandidate[],
  pool: Partial<PoolPlacement> = {},
  change: Partial<PlacementQuestion> = {},
): Placement =>
  placeWithPool(
    {
      userId: US,
      strategy: 'FEWEST_CONVERSATIONS',
      explicit: null,
      excluded: [],
      candidates,
      conversationsPerSandboxMax: 20,
      now: NOW,
      ...change,
    },
    { ...POOL, ...pool },
  );

const chosen = (placement: Placement): string =>
  placement.kind === 'refused'
    ? placement.refusal.code
    : placement.kind === 'new'
      ? 'new'
      : placement.sandboxId.replace(/^0+/, '');
const why = (placement: Placement): readonly string[] =>
  placement.kind === 'refused' ? [] : placement.decision.seen.map((one) => one.why);

describe('the pool of a run', () => {
  it('has a new sandbox while none of its own has room and it may grow', () => {
    expect(ask([])).toMatchObject({
      kind: 'new',
      decision: { chosen: null, seen: [], pool: { poolId: OURS, living: 0, spilled: false } },
    });
    const full = ask([pooled('1', { heldCount: 2 }), alone('2')]);
    expect(full).toMatchObject({ kind: 'new', decision: { pool: { living: 1 } } });
    expect(why(full)).toEqual(['full']);
  });

  it.each([
    ['with room before a new one', [pooled('1', { heldCount: 1 })], '1'],
    ['fewest at work', [pooled('1', { heldCount: 1 }), pooled('2')], '2'],
    ['no sandbox of somebody else', [alone('1'), pooled('2', { poolId: runId('theirs') })], 'new'],
    ['up before booting', [pooled('1', {}, { available: false, status: 'STARTING' }), pooled('2')], '2'],
    [
      'booting before released',
      [released('1'), pooled('2', {}, { available: false, status: 'STARTING' })],
      '2',
    ],
    ['released rather than new', [released('1')], '1'],
    ['none that is being removed', [pooled('1', {}, { draining: true })], 'new'],
    [
      'none that is lost',
      [pooled('1', {}, { status: 'MISSING' }), pooled('2', {}, { status: 'ERROR' })],
      'new',
    ],
    [
      'none whose session ends',
      [pooled('1', {}, { sessionStartedAt: NOW - MAX_SESSION_MS + SESSION_LEFT_FOR_PLACEMENT_MS - 1 })],
      'new',
    ],
  ] as const)('takes %s', (_name, candidates, expected) => {
    expect(chosen(ask(candidates))).toBe(expected);
  });

  it.each([
    ['wait', 'pool_full'],
    ['fail', 'pool_full'],
    ['spill', '3'],
  ] as const)('with on_full %s, what is full gives %s', (onFull, expected) => {
    const full = [pooled('1', { heldCount: 2 }), pooled('2', { heldCount: 2 }), alone('3')];
    expect(chosen(ask(full, { onFull }))).toBe(expected);
  });

  it('spills by the rules of the strategy, and tells what it saw of the pool', () => {
    const full = [
      pooled('1', { heldCount: 2 }),
      pooled('2', { heldCount: 2 }),
      alone('3', { attachedCount: 20 }),
    ];
    const placement = ask(full, { onFull: 'spill' });
    expect(placement).toMatchObject({ kind: 'new', decision: { pool: { living: 2, spilled: true } } });
    expect(why(placement)).toEqual(['full', 'full', 'full']);
    const lone = ask(full.slice(0, 2), { onFull: 'spill' }, { strategy: 'NO_GROUPING' });
    expect(lone).toMatchObject({ kind: 'new', decision: { rule: 'NO_GROUPING', pool: { spilled: true } } });
  });

  it('goes by the limit of the deployment where that is lower', () => {
    const candidates = [pooled('1', { heldCount: 1 })];
    expect(chosen(ask(candidates, {}, { conversationsPerSandboxMax: 1 }))).toBe('new');
  });

  it('counts who is at work, and not who only is attached still', () => {
    expect(chosen(ask([pooled('1', { heldCount: 1 }, { attachedCount: 400 })]))).toBe('1');
  });

  it('is overridden by an explicit sandbox', () => {
    expect(ask([pooled('1', { heldCount: 2 })], {}, { explicit: id('1') })).toMatchObject({
      kind: 'existing',
      decision: { rule: 'EXPLICIT' },
    });
  });

  it('is closed to everybody else', () => {
    const question = { userId: US, strategy: 'ADD_TO_ANY', explicit: null, excluded: [], now: NOW } as const;
    const candidates = [pooled('1'), alone('2')];
    const placement = placeWithPool({ ...question, candidates, conversationsPerSandboxMax: 20 }, undefined);
    expect(chosen(placement)).toBe('2');
    expect(why(placement)).toEqual(['of_a_pool', 'available']);
  });
});

describe('affinity', () => {
  const mine = { affinity: 'a' };

  it.each([
    ['its own kind first', [pooled('1'), pooled('2', { affinity: 'a', heldCount: 1 })], '2'],
    ['then one that is free', [pooled('1', { affinity: 'b', heldCount: 1 }), pooled('2')], '2'],
    ['one of others that is empty', [pooled('1', { affinity: 'b' })], '1'],
    ['a new one before one that others use', [pooled('1', { affinity: 'b', heldCount: 1 })], 'new'],
  ] as const)('takes %s', (_name, candidates, expected) => {
    expect(chosen(ask(candidates, mine))).toBe(expected);
  });

  it('shares with others when the pool cannot grow', () => {
    const both = [pooled('1', { affinity: 'b', heldCount: 1 }), pooled('2', { affinity: 'c', heldCount: 2 })];
    expect(chosen(ask(both, mine))).toBe('1');
  });

  it('names the sandbox that is taken instead when there is no slot for a new one', () => {
    const placement = ask([pooled('1', { affinity: 'b', heldCount: 1 })], mine);
    expect(placement).toMatchObject({ kind: 'new', otherwise: id('1') });
    expect(why(placement)).toEqual(['other_affinity']);
  });
});

describe('recycling', () => {
  it.each([
    ['one conversation below the count', { placedCount: 24 }, {}, '1'],
    ['the count', { placedCount: 25 }, {}, 'new'],
    ['a millisecond below the age', {}, { createdAt: NOW - 59_999 }, '1'],
    ['the age', {}, { createdAt: NOW - 60_000 }, 'new'],
  ] as const)('at %s', (_name, pool, change, expected) => {
    const placement = ask([pooled('1', pool, change)], { recycleAfter: 25, recycleAgeMs: 60_000 });
    expect(chosen(placement)).toBe(expected);
    if (expected === 'new') expect(why(placement)).toEqual(['recycled']);
  });

  it('counts one that is still used, and none that is empty', () => {
    const rules = { size: 1, recycleAfter: 1 };
    expect(chosen(ask([pooled('1', { heldCount: 1 })], rules))).toBe('pool_full');
    expect(chosen(ask([pooled('1', { heldCount: 0 })], rules))).toBe('new');
  });
});

interface Box {
  readonly name: number;
  readonly createdAt: number;
  readonly held: Set<number>;
  affinity: string | null;
  placed: number;
  lost: boolean;
}

type Move =
  | { readonly kind: 'place'; readonly affinity: string | null }
  | { readonly kind: 'end'; readonly pick: number }
  | { readonly kind: 'lose'; readonly pick: number }
  | { readonly kind: 'pass'; readonly ms: number };

const moves = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('place' as const),
        affinity: fc.constantFrom(null, 'a', 'b'),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), pick: fc.nat(50) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose' as const), pick: fc.nat(50) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(400) }) },
  ),
  { maxLength: 60 },
);
const rules = fc.record({
  size: fc.integer({ min: 1, max: 4 }),
  maxPerSandbox: fc.integer({ min: 1, max: 3 }),
  recycleAfter: fc.option(fc.integer({ min: 1, max: 6 })),
  recycleAgeMs: fc.option(fc.integer({ min: 100, max: 2_000 })),
  onFull: fc.constantFrom('wait' as const, 'fail' as const),
});

class World {
  now = NOW;
  private readonly boxes: Box[] = [];
  private count = 0;
  private readonly pool: PoolPlacement;

  constructor(rule: Partial<PoolPlacement>) {
    this.pool = { ...POOL, ...rule };
  }

  isRecycled(box: Box): boolean {
    const { recycleAfter, recycleAgeMs } = this.pool;
    return (
      (recycleAfter !== null && box.placed >= recycleAfter) ||
      (recycleAgeMs !== null && this.now - box.createdAt >= recycleAgeMs)
    );
  }

  get living(): readonly Box[] {
    return this.boxes.filter((box) => !box.lost && (box.held.size > 0 || !this.isRecycled(box)));
  }

  hasRoom(box: Box): boolean {
    return !box.lost && !this.isRecycled(box) && box.held.size < this.pool.maxPerSandbox;
  }

  play(move: Move, strategy: PlacementQuestion['strategy']): void {
    const used = this.boxes.filter((box) => box.held.size > 0);
    if (move.kind === 'pass') this.now += move.ms;
    if (move.kind === 'lose' && this.boxes.length > 0) {
      const box = this.boxes[move.pick % this.boxes.length] as Box;
      box.lost = true;
      box.held.clear();
    }
    if (move.kind === 'end' && used.length > 0) {
      const { held } = used[move.pick % used.length] as Box;
      held.delete([...held][0] as number);
    }
    if (move.kind === 'place') this.place(move.affinity, strategy);
  }

  private place(affinity: string | null, strategy: PlacementQuestion['strategy']): void {
    const { living } = this;
    const candidates = this.boxes.map(({ name, createdAt, held, placed, lost, affinity: kind }) =>
      pooled(
        String(name),
        { affinity: kind, placedCount: placed, heldCount: held.size },
        {
          sandboxId: id(String(name)),
          createdAt,
          status: lost ? 'MISSING' : 'RUNNING',
          sessionStartedAt: this.now,
        },
      ),
    );
    const placement = ask(candidates, { ...this.pool, affinity }, { strategy, now: this.now });
    if (placement.kind === 'refused') {
      expect(living).toHaveLength(this.pool.size);
      return expect(this.boxes.filter((box) => this.hasRoom(box))).toEqual([]);
    }
    const found =
      placement.kind === 'existing'
        ? this.boxes.find(({ name }) => id(String(name)) === placement.sandboxId)
        : undefined;
    if (placement.kind === 'existing') expect(found !== undefined && this.hasRoom(found)).toBe(true);
    const box: Box = found ?? {
      name: this.boxes.length + 1,
      createdAt: this.now,
      held: new Set(),
      affinity: null,
      placed: 0,
      lost: false,
    };
    if (found === undefined) this.boxes.push(box);
    this.count += 1;
    if (box.held.size === 0) box.affinity = affinity;
    box.held.add(this.count);
    box.placed += 1;
    expect(this.living.length).toBeLessThanOrEqual(Math.max(this.pool.size, living.length));
    expect(this.living.length).toBeLessThanOrEqual(this.pool.size);
  }
}

describe('a pool over its whole life', () => {
  it('never has more sandboxes than its size, nor more at once in one, and refuses only when it is full', () => {
    fc.assert(
      fc.property(rules, moves, fc.constantFrom(...GROUPING_STRATEGIES), (rule, played, strategy) => {
        const world = new World(rule);
        for (const move of played) world.play(move, strategy);
      }),
      { numRuns: 300 },
    );
  });
});

function released(name: string): PlacementCandidate {
  return pooled(name, {}, { status: 'PAUSED', available: false, sessionStartedAt: null });
}
