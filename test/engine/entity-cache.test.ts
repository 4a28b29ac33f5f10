/** Which entities stay in memory once they have ended, and what is known of the store's copy of each. */
import { describe, expect, it } from 'vitest';
import { runId } from '../../core/ids.ts';
import type { HeldEntity } from '../../engine/batch.ts';
import { EntityCache } from '../../engine/entity-cache.ts';
import { memoryStore } from './memory-store.ts';

const addressOf = (index: number) => ({ machine: 'run', id: runId(`r${index}`) }) as const;
const keyOf = (index: number): string => `run/r${index}`;

function held(index: number, change: Partial<HeldEntity>): HeldEntity {
  return {
    address: addressOf(index),
    state: {},
    deadline: null,
    done: false,
    kept: { items: [] },
    ...change,
  };
}

function cacheOf(entities: readonly HeldEntity[]): EntityCache {
  const cache = new EntityCache(memoryStore().engine);
  cache.keep(entities);
  return cache;
}

const heldOf = (cache: EntityCache, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index).filter((index) => cache.has(addressOf(index)));

describe('entities in memory', () => {
  it('are let go when they have ended, but for the last few with long lists', () => {
    const cache = cacheOf([
      held(0, { kept: null, done: true }),
      ...[1, 2, 3, 4].map((index) => held(index, { done: true })),
      held(5, {}),
      held(6, { kept: null }),
    ]);
    expect(heldOf(cache, 9)).toEqual([1, 2, 3, 4, 5, 6]);
    // One that changes is the last again, and one that goes on is not counted any more.
    cache.keep([held(1, { done: true }), held(2, {})]);
    cache.keep([held(7, { done: true }), held(8, { done: true })]);
    expect(heldOf(cache, 9)).toEqual([1, 2, 4, 5, 6, 7, 8]);
  });

  it('have lists of which nothing is known after a commit that failed', () => {
    const cache = cacheOf([held(1, {}), held(2, {}), held(3, { kept: null })]);
    cache.doubt([1, 3, 9].map(keyOf));
    expect([1, 2, 3].map((index) => cache.get(keyOf(index)).kept)).toEqual([null, { items: [] }, null]);
    expect(heldOf(cache, 10)).toEqual([1, 2, 3]);
  });
});
