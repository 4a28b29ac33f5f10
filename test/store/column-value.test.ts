/** Values on their way into and out of columns. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnText, safeInteger } from '../../store/sql/column-value.ts';

describe('safeInteger()', () => {
  it('reads every form a driver has, exactly', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (number) => {
        for (const form of [number, BigInt(number), String(number)]) expect(safeInteger(form)).toBe(number);
      }),
    );
  });

  it.each([2 ** 53, 2n ** 53n + 1n, '9007199254740993', '1.5', 1.5, 'x', '', NaN])('refuses %s', (value) => {
    expect(() => safeInteger(value)).toThrow(expect.objectContaining({ code: 'internal' }));
  });
});

describe('columnText()', () => {
  it('keeps ordinary text and replaces what no column holds', () => {
    expect(columnText('naïve 🙂')).toBe('naïve 🙂');
    expect(columnText('a\u0000\ud800b')).toBe('a\uFFFD\uFFFDb');
  });
});
