/** Many rows as few statements: nothing lost, nothing over the bound. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyChunks, rowChunks } from '../../store/row-chunks.ts';

describe('rowChunks()', () => {
  it('keeps every row in order, and each chunk below what SQLite takes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 1, max: 30 }), (count, columns) => {
        const row = Object.fromEntries(Array.from({ length: columns }, (_, index) => [`c${index}`, 0]));
        const chunks = rowChunks(Array.from({ length: count }, (_, index) => ({ ...row, c0: index })));
        expect(chunks.flat().every((one, index) => one.c0 === index)).toBe(true);
        expect(chunks.flat()).toHaveLength(count);
        for (const chunk of chunks) expect(chunk.length * columns).toBeLessThan(32_766);
      }),
      { numRuns: 20 },
    );
  });
});

describe('keyChunks()', () => {
  it('is nothing for no keys', () => {
    expect(keyChunks([])).toEqual([]);
    expect(keyChunks(['a', 'b'])).toEqual([['a', 'b']]);
  });
});
