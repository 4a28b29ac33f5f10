/** Queries of the items of a run: what a filter leaves, each order, and pages that meet without a gap. */
import { describe, expect, it } from 'vitest';
import {
  ITEM_ORDERS,
  orderValue,
  queryItems,
  type ItemFilter,
  type QueriedItem,
} from '../../core/run/items/item-query.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import { runItemRow } from '../contract/store-rows.ts';

const NOW = 10_000;
const repository = (name: string) => ({ name, branch: null, host: null, tokenSecret: null });
type Made = readonly [
  key: string,
  row: Partial<RunItemRow>,
  model: string,
  repo: string | null,
  tags: Readonly<Record<string, string>>,
];
const MADE: readonly Made[] = [
  [
    'b',
    { outcome: 'succeeded', phase: 'ended', costNanoUsd: 5, admittedAt: 0, endedAt: 4_000 },
    ...(['small', 'acme/shop', { team: 'blue' }] as const),
  ],
  [
    'a',
    { outcome: 'failed', phase: 'ended', costNanoUsd: 9, admittedAt: 0, endedAt: 1_000 },
    ...(['coder', 'acme/web', { team: 'red' }] as const),
  ],
  [
    'd',
    { outcome: null, phase: 'working', costNanoUsd: null, admittedAt: 1_000, endedAt: null },
    ...(['coder', 'acme/shop', {}] as const),
  ],
  [
    'C',
    { outcome: null, phase: 'waiting', costNanoUsd: null, admittedAt: null, endedAt: null },
    ...(['small', null, { team: 'blue', tier: '1' }] as const),
  ],
];
const ITEMS: readonly QueriedItem[] = MADE.map(([key, change, model, repo, tags], position) => ({
  row: runItemRow(key, change),
  position,
  facts: { model, repository: repo === null ? null : repository(repo), tags },
}));

const ALL = { order: 'POSITION', descending: false, after: null, limit: 100 } as const;
const keys = (items: readonly QueriedItem[]): string => items.map(({ row }) => row.key).join(' ');

describe('items of a run', () => {
  it.each<[ItemFilter, string]>([
    [{}, 'b a d C'],
    [{ states: ['failed'] }, 'a'],
    [{ states: ['succeeded', 'working'] }, 'b d'],
    [{ model: 'coder' }, 'a d'],
    [{ repository: 'acme/shop' }, 'b d'],
    [{ tags: { team: 'blue' } }, 'b C'],
    [{ tags: { team: 'blue', tier: '1' } }, 'C'],
    [{ tags: { constructor: 'x' } }, ''],
    [{ keyContains: 'c' }, 'C'],
    [{ model: 'coder', states: ['failed'] }, 'a'],
    [{ model: 'none' }, ''],
  ])('%j leaves %s', (filter, left) => {
    expect(keys(queryItems(ITEMS, filter, ALL, NOW))).toBe(left);
  });

  it.each([
    ['POSITION', 'b a d C'],
    ['COST', 'C d b a'],
    ['TIME', 'C a b d'],
    ['OUTCOME', 'a b C d'],
    ['MODEL', 'a d C b'],
    ['REPOSITORY', 'C b d a'],
    ['KEY', 'C a b d'],
  ] as const)('by %s: %s, and backwards', (order, expected) => {
    expect(keys(queryItems(ITEMS, {}, { ...ALL, order }, NOW))).toBe(expected);
    const backwards = queryItems(ITEMS, {}, { ...ALL, order, descending: true }, NOW);
    expect(keys(backwards)).toBe(expected.split(' ').reverse().join(' '));
  });

  it('has every item once, page by page, in every order and direction', () => {
    for (const order of ITEM_ORDERS)
      for (const descending of [false, true]) {
        const whole = keys(queryItems(ITEMS, {}, { ...ALL, order, descending }, NOW));
        const seen: QueriedItem[] = [];
        for (;;) {
          const last = seen.at(-1);
          const after = last === undefined ? null : { value: orderValue(last, order, NOW), id: last.row.key };
          const page = queryItems(ITEMS, {}, { order, descending, after, limit: 1 }, NOW);
          if (page.length === 0) break;
          seen.push(...page);
          expect(seen.length).toBeLessThanOrEqual(ITEMS.length);
        }
        expect([order, descending, keys(seen)]).toEqual([order, descending, whole]);
      }
  });

  it('finds nothing by a fact in items that the plan has no more', () => {
    const gone = ITEMS.map((item) => ({ ...item, facts: null }));
    expect(queryItems(gone, { model: 'coder' }, ALL, NOW)).toEqual([]);
    expect(queryItems(gone, { tags: { team: 'blue' } }, ALL, NOW)).toEqual([]);
    expect(keys(queryItems(gone, {}, { ...ALL, order: 'MODEL' }, NOW))).toBe('C a b d');
  });
});
