/** Exports in no usual format: named columns, currencies, and what our own proxy exports. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SpendRow } from '../../../core/money/spend.ts';
import type { ExportReading } from '../../../ports/gateway-export.ts';
import { parseExport } from '../../../clients/gateway/export-rows.ts';
import { CSV_HEADER, csvLine } from '../../../proxy/spend/spend-route.ts';
import { spendRow } from '../../contract/store-rows.ts';

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
      'its field "cost" is "dear" (column "Price"); name the right column with --map cost=COLUMN',
    );
    expect(() => parseExport(JSON.stringify(row), 'jsonl', { columns: { cost: 'Fee' } })).toThrow(
      'its field "cost" is missing (no value in "Fee"; the row has time, model, cost, Price)',
    );
  });
});

describe('a field under several names', () => {
  const NAMES = ['request_id', 'response_id', 'responseId', 'id'];

  it('is the first of them that has a value, wherever its column stands', () => {
    const columns = fc
      .shuffledSubarray(NAMES)
      .chain((names) =>
        fc.tuple(
          ...names.map((name) => fc.tuple(fc.constant(name), fc.constantFrom('', null, `of ${name}`))),
        ),
      );
    fc.assert(
      fc.property(fc.array(columns, { minLength: 1, maxLength: 4 }), (rows) => {
        const lines = rows.map((cells) =>
          JSON.stringify({ ...Object.fromEntries(cells), time: '2026-11-21', model: 'm', cost: '1' }),
        );
        const wanted = rows.map((cells) => {
          const given = new Map(cells);
          return NAMES.map((name) => given.get(name)).find((value) => value) ?? null;
        });
        const read = parseExport(lines.join('\n'), 'jsonl');
        expect(read.map(({ responseId }) => responseId)).toEqual(wanted);
      }),
      { seed: 20261127 },
    );
  });
});

describe('numbers in another unit', () => {
  const read = (row: object, reading: ExportReading) =>
    parseExport(JSON.stringify({ time: '2026-11-21', model: 'm', cost: '1', ...row }), 'jsonl', reading)[0];

  it.each([
    ['cost', 'cents', '0.01', '123', { cost: 1_230_000_000 }],
    ['cost', 'micros', '1e-6', 7.5, { cost: 7_500 }],
    ['cost', 'credits', '0.000000001', '-3', { cost: -3 }],
    ['cost_nano_usd', 'micros', '1000', '7.5', { cost: 7_500 }],
    ['started_at', 'ts', '1000', 1_795_233_600.25, { startedAt: 1_795_233_600_250 }],
    ['started_at', 'ts', '0.001', '1795233600000000', { startedAt: 1_795_233_600_000 }],
    ['prompt_tokens', 'kilo', '1000', '1.5', { promptTokens: 1_500 }],
  ] as const)('%s is %s times %s, exactly', (field, column, factor, value, expected) => {
    const reading = { columns: { [field]: column }, factors: { [field]: factor } };
    expect(read({ [column]: value }, reading)).toMatchObject(expected);
  });

  it('a column that the user names is read, whatever the export looks like', () => {
    expect(read({ cost_nano_usd: 5, price: '2' }, { columns: { cost: 'price' } })).toMatchObject({
      cost: 2_000_000_000,
    });
    expect(read({ cost_nano_usd: 5, nano: '9' }, { columns: { cost_nano_usd: 'nano' } })).toMatchObject({
      cost: 9,
    });
  });

  it('seconds are never read as milliseconds', () => {
    expect(() => read({ time: 1_795_233_600 }, {})).toThrow('of seconds, write --map started_at=COLUMN*1000');
    expect(() => read({ time: '1795233600' }, {})).toThrow('of seconds, write --map started_at=COLUMN*1000');
    expect(read({ time: '1795233600000' }, {})?.startedAt).toBe(1_795_233_600_000);
  });
});

describe('currencies', () => {
  const row = (cost: string, currency: string) =>
    JSON.stringify({ time: '2026-11-21', model: 'm', cost, currency });

  it('are refused without a rate, naming row and remedy', () => {
    expect(() => parseExport(row('1', 'EUR'), 'jsonl')).toThrow(
      'Cannot read row 1 of the export: its field "currency" is "EUR" (column "currency"); give its rate with --rate EUR=USD_FOR_ONE',
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
