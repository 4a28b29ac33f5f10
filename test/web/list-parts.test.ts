/** What lists and the overview decide by themselves: queries of a filter, tags, days, and the series of a picture. */
import { describe, expect, it } from 'vitest';
import { conversationQuery, FIRST_CONVERSATIONS } from '../../web/conversation/conversation-filter.ts';
import { moreOf, NO_MORE } from '../../web/start/more-draft.ts';
import { beginOf } from '../../web/lists/filter-field.ts';
import { wordSort } from '../../web/lists/word-sort.ts';
import { groupLabel, spendSeries, type Spend } from '../../web/overview/spend-series.ts';
import { parsedTags, tagsText } from '../../web/text/tags.ts';

describe('conversationQuery()', () => {
  const query = (change: Partial<typeof FIRST_CONVERSATIONS>) =>
    conversationQuery({ ...FIRST_CONVERSATIONS, ...change });

  it.each([
    [{}, {}],
    [
      { title: 'x', agent: 'ERROR' },
      { title__contains: 'x', execution_status__eq: 'ERROR' },
    ],
    [{ tag: 'team' }, {}],
    [{ tag: 'team=' }, { tag: ['team='] }],
    [{ in: 'abc' }, {}],
    [{ in: 'a'.repeat(32) }, { sandbox_id__eq: 'a'.repeat(32) }],
    [{ agent: 'nonsense', sandbox: '<b>', from: '2026-13' }, {}],
  ])('of %j is %j', (change, wanted) => {
    expect(query(change)).toEqual({ sort_order: 'CREATED_AT_DESC', ...wanted });
    expect(query({ ...change, sort: 'x' })).toEqual(wanted);
  });
});

it('a day begins in the zone of the reader, and the next one ends it', () => {
  expect(beginOf('2026-03-04')).toBe(new Date(2026, 2, 4).toISOString());
  expect(beginOf('2026-12-31', 1)).toBe(new Date(2027, 0, 1).toISOString());
  expect([beginOf(''), beginOf('today'), beginOf('2026-3-4')]).toEqual([null, null, null]);
});

it('tags are read as they were written', () => {
  const tags = { team: 'blue', note: 'a=b', empty: '' };
  expect(parsedTags(tagsText(tags))).toEqual(tags);
  expect(parsedTags('  \nteam = blue\nalone\n')).toEqual({ team: 'blue', alone: '' });
});

it('a start says only what was chosen', () => {
  expect(moreOf(NO_MORE)).toEqual({});
  expect(moreOf({ ...NO_MORE, plugins: 'a/b@v1  dir\n\nc/d', secrets: [{ name: ' ', value: 'x' }] })).toEqual(
    {
      plugins: [{ source: 'a/b', ref: 'v1', repo_path: 'dir' }, { source: 'c/d' }],
    },
  );
});

it('an order is turned round by a second click, what is new first', () => {
  const clicked = (order: string): string => {
    let next = '';
    wordSort(order, 'TITLE', (wanted) => (next = wanted)).onSort();
    return next;
  };
  expect(['CREATED_AT', 'TITLE_DESC', 'TITLE'].map(clicked)).toEqual(['TITLE_DESC', 'TITLE', 'TITLE_DESC']);
});

describe('spendSeries()', () => {
  const sums = { calls: 1, failed: 0, unpriced: 0, prompt_tokens: 0, completion_tokens: 0, cost_nano_usd: 0 };
  const named = (name: string) => ({ kind: 'named', name }) as const;
  const bucket = (at: string, name: string, usd: number) => ({
    ...{ ...named(name), at, calls: 1, cost_nano_usd: usd * 1e9 },
  });
  const spend: Spend = {
    ...{ by: 'model', from: '2026-01-01T00:00:00.000Z', to: '2026-01-04T00:00:00.000Z' },
    ...{ bucket_seconds: 86_400, total: sums },
    groups: [
      { ...named('a'), ...sums },
      { ...named('b'), ...sums },
    ],
    buckets: [
      bucket('2026-01-01T00:00:00.000Z', 'a', 1),
      bucket('2026-01-01T00:00:00.000Z', 'b', 2),
      bucket('2026-01-03T00:00:00.000Z', 'b', 4),
    ],
  };

  it('has every bucket, and each group on top of those before it', () => {
    const { times, amounts, stacked } = spendSeries(spend);
    expect(times.map((at) => new Date(at * 1_000).getUTCDate())).toEqual([1, 2, 3]);
    expect(amounts).toEqual([
      [1, 0, 0],
      [2, 0, 4],
    ]);
    expect(stacked).toEqual([
      [1, 0, 0],
      [3, 0, 4],
    ]);
  });

  it('names what has no name', () => {
    expect(groupLabel(named('<b>'), 'team')).toBe('<b>');
    expect(groupLabel({ kind: 'none', name: '' }, 'team')).toBe('No team');
    expect(groupLabel({ kind: 'none', name: '' }, 'key')).toBe('Keys of conversations');
    expect(groupLabel({ kind: 'others', name: '' }, 'key')).toBe('All others');
  });
});
