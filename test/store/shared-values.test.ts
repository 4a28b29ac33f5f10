/** Values bound once: the text says where each stands, and only what has a name in common shares a place. */
import { describe, expect, it } from 'vitest';
import { bindOnce, canBindOnce, sharedNames } from '../../store/sql/shared-values.ts';

describe('sharedNames()', () => {
  it.each([
    ['no row', [], []],
    ['one row', [{ a: 1, b: null }], ['a', 'b']],
    [
      'rows that differ in one',
      [
        { a: 1, b: null },
        { b: null, a: 2 },
      ],
      ['b'],
    ],
    ['a number and its text', [{ a: 1 }, { a: '1' }], []],
    ['a row without the column', [{ a: 1 }, {}], []],
  ])('of %s', (_, rows, names) => {
    expect(sharedNames(rows)).toEqual(names);
  });
});

describe('bindOnce()', () => {
  const keyOf = (part: unknown): string | null => (typeof part === 'string' ? part : null);

  it('numbers the places, and binds what has the same key once', () => {
    const text = { sql: 'values (?, ?), (?, ?) where ? = 7', parameters: ['a', 1, 'a', 1, 'b'] };
    expect(bindOnce(text, keyOf)).toEqual({
      sql: 'values (?1, ?2), (?1, ?3) where ?4 = 7',
      parameters: ['a', 1, 1, 'b'],
    });
  });

  it.each([
    ['plain places', 'values (?, ?)', 2, true],
    ['a question mark in a word of the text', `select '?' where a = ?`, 1, false],
    ['places that have numbers', 'values ($1, $2)', 2, false],
    ['no place at all', 'select 1', 0, false],
  ])('is told by the text whether it may: %s', (_, sql, count, may) => {
    expect(canBindOnce({ sql, parameters: Array.from({ length: count }, () => 0) })).toBe(may);
  });
});
