/**
 * Rows of data files: CSV against another reader, any text in any pieces, and what is refused.
 */
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { csvCells } from '../../dsl/rows/csv-cells.ts';
import { readJsonl } from '../../dsl/rows/jsonl-rows.ts';

function pieces(text: string, size: number): string[] {
  return text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
}

const cell = fc.string({ unit: fc.constantFrom('a', 'b', ' ', ',', '"', '\n', 'é', '🎉'), maxLength: 6 });

function csvOf(rows: readonly (readonly string[])[], lineBreak: string): string {
  return rows.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(',')).join(lineBreak);
}

describe('CSV', () => {
  it('gives the cells that were written, whatever they hold and however the text is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(cell, { minLength: 2, maxLength: 3 }), { minLength: 1, maxLength: 5 }),
        fc.constantFrom('\n', '\r\n'),
        fc.integer({ min: 1, max: 9 }),
        (rows, lineBreak, size) => {
          const read = [...csvCells(pieces(csvOf(rows, lineBreak), size))];
          expect(read.map((row) => ('cells' in row ? row.cells : row))).toEqual(rows);
        },
      ),
      { seed: 20261122, numRuns: 300 },
    );
  });

  it('reads unquoted text as another reader does', () => {
    const line = fc.array(
      fc.string({ unit: fc.constantFrom('a', 'B', '1', '-', '.'), minLength: 1, maxLength: 4 }),
      {
        minLength: 2,
        maxLength: 2,
      },
    );
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 5 }),
        (rows, size) => {
          const text = `${rows.map((row) => row.join(',')).join('\n')}\n`;
          const read = [...csvCells(pieces(text, size))].map((row) => ('cells' in row ? row.cells : row));
          expect(read).toEqual(parse(text));
        },
      ),
      { seed: 20261122, numRuns: 200 },
    );
  });

  it('says the line on which a row starts, with line breaks inside quotes counted', () => {
    const rows = [...csvCells(['\uFEFFa,b\r\n\n"x\ny",1\nz,2'])];
    expect(rows).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 3, cells: ['x\ny', '1'] },
      { line: 5, cells: ['z', '2'] },
    ]);
  });

  it('never throws, and ends behind the first problem', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r'), maxLength: 40 }), (text) => {
        const read = [...csvCells(pieces(text, 3))];
        const problem = read.findIndex((row) => 'message' in row);
        expect(problem === -1 || problem === read.length - 1).toBe(true);
      }),
      { seed: 20261122, numRuns: 500 },
    );
  });

  it('refuses a row without end, having read little of it', () => {
    let taken = 0;
    function* endless(): Generator<string> {
      for (;;) {
        taken += 1;
        yield 'a'.repeat(100_000);
      }
    }
    expect([...csvCells(endless())]).toMatchObject([{ line: 1, message: 'a row has more than 1 MiB' }]);
    expect(taken).toBeLessThan(20);
  });
});

describe('JSONL', () => {
  it('gives objects with their lines, blank ones left out', () => {
    const file = readJsonl(pieces('{"a":1,"b":"x"}\n\n{"b":"y","a":2}\n{"b":"y","a":2,"c":true}', 4));
    if ('message' in file) throw new Error(file.message);
    expect(file.columns).toEqual({ a: 'double', b: 'string' });
    expect([...file.rows]).toEqual([
      { number: 1, line: 1, fields: { a: 1, b: 'x' } },
      { number: 2, line: 3, fields: { a: 2, b: 'y' } },
      { line: 4, message: 'the first row has no field "c"', remedy: 'every row has the same fields' },
    ]);
  });

  it('refuses a line without end', () => {
    function* endless(): Generator<string> {
      for (;;) yield 'a'.repeat(100_000);
    }
    expect(readJsonl(endless())).toMatchObject({ message: 'a line has more than 1 MiB' });
  });
});
