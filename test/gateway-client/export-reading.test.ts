/** Exports that follow nobody's custom: named columns, currencies, and what our own proxy exports. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SpendRow } from '../../core/spend.ts';
import { parseExport } from '../../gateway-client/export-rows.ts';
import { CSV_HEADER, csvLine } from '../../proxy/spend-csv.ts';
import { spendRow } from '../contract/store-rows.ts';

const COLUMNS = {
  response_id: 'Ref',
  started_at: 'When',
  model: 'What',
  cost: 'Price',
  currency: 'Unit',
  team: 'Dept',
};

describe('columns that a user names', () => {
  it('are read from CSV and JSON lines alike', () => {
    const csv = parseExport('Ref,When,What,Price,Unit,Dept\nr1,2026-11-21,m,0.5,USD,red\n', 'csv', {
      columns: COLUMNS,
    });
    const line = { Ref: 'r1', When: '2026-11-21', What: 'm', Price: 0.5, Unit: 'usd', Dept: 'red' };
    const jsonl = parseExport(JSON.stringify(line), 'jsonl', { columns: COLUMNS });
    expect(csv).toEqual(jsonl);
    expect(csv).toMatchObject([{ responseId: 'r1', model: 'm', cost: 500_000_000, team: 'red' }]);
  });

  it('win over the known names, and are named in an error', () => {
    const row = { time: '2026-11-21', model: 'm', cost: '1', Price: 'dear' };
    expect(() => parseExport(JSON.stringify(row), 'jsonl', { columns: { cost: 'Price' } })).toThrow(
      '"Price" is "dear"',
    );
    expect(() => parseExport(JSON.stringify(row), 'jsonl', { columns: { cost: 'Fee' } })).toThrow(
      '"Fee" is missing',
    );
  });
});

describe('currencies', () => {
  const row = (cost: string, currency: string) =>
    JSON.stringify({ time: '2026-11-21', model: 'm', cost, currency });

  it('are refused without a rate, naming row and remedy', () => {
    expect(() => parseExport(row('1', 'EUR'), 'jsonl')).toThrow(
      'Cannot read row 1 of the export: "currency" is "EUR"; give its rate with --rate EUR=USD_FOR_ONE',
    );
  });

  it('are converted exactly and rounded once, half to even', () => {
    const cost = (amount: string, rate: string) =>
      parseExport(row(amount, 'eur'), 'jsonl', { rates: { EUR: rate } })[0]?.cost;
    expect(cost('0.1', '1.0834')).toBe(108_340_000);
    expect(cost('0.000000001', '0.5')).toBe(0);
    expect(cost('0.000000003', '0.5')).toBe(2);
    expect(cost('-2', '1.5')).toBe(-3_000_000_000);
  });
});

describe('the export of our own proxy', () => {
  const known = fc.record({
    cost: fc.option(fc.nat({ max: 1e12 })),
    promptTokens: fc.option(fc.nat()),
    startedAt: fc.integer({ min: 1.7e12, max: 1.8e12 }),
    team: fc.constantFrom('red', '=blue'),
  });

  it('is read the same from JSON lines and from CSV: nano-USD, and unpriced where there is no amount', () => {
    fc.assert(
      fc.property(fc.array(known, { maxLength: 5 }), (changes) => {
        const rows = changes.map(
          ({ team, ...change }, index) =>
            ({
              ...spendRow(`c${index}`, { responseId: `r${index}`, ...(change as Partial<SpendRow>) }),
              endedAt: change.startedAt + 5,
              costSource: change.cost === null ? 'unpriced' : 'entry',
              ...(team === '=blue' ? {} : { team }),
            }) as SpendRow,
        );
        const jsonl = parseExport(rows.map((one) => `${JSON.stringify(one)}\n`).join(''), 'jsonl');
        const csv = parseExport(CSV_HEADER + rows.map(csvLine).join(''), 'csv');
        expect(csv).toEqual(jsonl);
        expect(jsonl.map(({ cost, isUnpriced }) => (isUnpriced === true ? null : cost))).toEqual(
          rows.map(({ cost }) => cost),
        );
        expect(jsonl.map(({ responseId }) => responseId)).toEqual(rows.map(({ responseId }) => responseId));
      }),
    );
  });
});
