// Exports and totals: whose rows, which rows, exact sums, and nothing lost on the way through CSV.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportChunks, parseSpendQuery, spendFilter, totalOf } from '../../scripted-gateway/server.ts';
import { openLedger, ledgerColumns, type LedgerRow } from '../../scripted-gateway/ledger.ts';
import { get, sampleScript, startGateway } from './gateway-fixture.ts';

const text = fc.string({ unit: 'binary', maxLength: 12 });
const awkward = fc.oneof(text, fc.stringMatching(/^[",\r\n a]{0,6}$/));
const time = fc
  .integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 0, 3) })
  .map((timeMs) => new Date(timeMs).toISOString());
const count = fc.integer({ min: 0, max: 1_000_000_000 });
const row: fc.Arbitrary<LedgerRow> = fc.record({
  request_id: awkward,
  time_start: time,
  time_end: time,
  model: awkward,
  api_key_name: fc.constantFrom('team', 'free', 'root'),
  tags: fc.array(awkward, { maxLength: 3 }),
  session_id: fc.option(awkward.filter((one) => one !== '')),
  metadata: fc.option(
    fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 2, noUnicodeString: false })),
  ),
  user: fc.option(awkward.filter((one) => one !== '')),
  prompt_tokens: count,
  completion_tokens: count,
  cost_usd: fc
    .tuple(count, fc.integer({ min: 0, max: 999_999_999 }))
    .map(([whole, nano]) => `${whole}.${String(nano).padStart(9, '0')}`),
  status: fc.constant('success' as const),
});

/** RFC 4180, read strictly: every record ends in CRLF, a quote stands only around a field or doubled inside. */
function parseCsv(csv: string): readonly (readonly string[])[] {
  const field = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/gy;
  const records: string[][] = [[]];
  while (field.lastIndex < csv.length) {
    const match = field.exec(csv);
    if (match === null) throw new Error('not RFC 4180');
    const [, raw = '', end] = match;
    records.at(-1)?.push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw);
    if (end === '\r\n') records.push([]);
  }
  records.pop();
  return records;
}

function rowOfCsv(fields: readonly string[]): unknown {
  const entries = ledgerColumns.map((column, index): [string, unknown] => {
    const value = fields[index] ?? '';
    switch (column) {
      case 'tags':
        return [column, JSON.parse(value)];
      case 'metadata':
        return [column, value === '' ? null : JSON.parse(value)];
      case 'session_id':
      case 'user':
        return [column, value === '' ? null : value];
      case 'prompt_tokens':
      case 'completion_tokens':
        return [column, Number(value)];
      default:
        return [column, value];
    }
  });
  return Object.fromEntries(entries);
}

const root = { name: 'root', admin: true, models: null, tags: [] };
const nanoOf = (usd: string): bigint => BigInt(usd.replace('.', ''));
const isWanted = (): boolean => true;

describe('export', () => {
  it('comes back from CSV and from JSON lines unchanged', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 20 }), (rows) => {
        const plain = JSON.parse(JSON.stringify(rows)) as unknown;
        const [names, ...records] = parseCsv([...exportChunks(rows, { format: 'csv', isWanted })].join(''));
        expect(names).toEqual(ledgerColumns);
        expect(records.map(rowOfCsv)).toEqual(plain);
        const lines = [...exportChunks(rows, { format: 'jsonl', isWanted })]
          .join('')
          .split('\n')
          .slice(0, -1);
        expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(plain);
      }),
    );
  });

  it('is cut into chunks, and rows that come during it are left to the next', () => {
    const rows = fc.sample(row, { numRuns: 700, seed: 1 });
    const chunks: string[] = [];
    for (const chunk of exportChunks(rows, { format: 'jsonl', isWanted })) {
      if (chunks.length === 0) rows.push(...rows.slice(0, 5));
      chunks.push(chunk);
    }
    expect(chunks.map((chunk) => chunk.split('\n').length - 1)).toEqual([256, 256, 188]);
  });
});

describe('filters', () => {
  it('take from ≤ time_start < to: adjoining windows share no row and lose none', () => {
    fc.assert(
      fc.property(fc.array(row), fc.uniqueArray(time, { maxLength: 4 }), (rows, cuts) => {
        const edges = [
          '2025-12-31',
          ...[...cuts, ...rows.slice(0, 2).map((one) => one.time_start)].sort(),
          '2026-01-04',
        ];
        const windows = edges.slice(1).map((to, index) => {
          const query = parseSpendQuery({ from: edges[index], to });
          return rows.filter(spendFilter(query, root));
        });
        expect(new Set(windows.flat())).toEqual(new Set(rows));
        expect(windows.flat().length).toBe(rows.length);
      }),
    );
  });

  it('refuse what they do not understand', async () => {
    const { url } = await startGateway();
    const cases = [
      ['format=xml', 'format'],
      ['from=yesterday', 'from'],
      ['to=2026-01-01T00:00:00', 'to'],
      ['until=2026-01-01', 'until'],
      ['model=a&model=b', 'model'],
    ] as const;
    for (const [query, param] of cases) {
      const response = await get(url, `/spend/export?${query}`);
      const { error } = (await response.json()) as { error: { param: string } };
      expect([query, response.status, error.param]).toEqual([query, 400, param]);
    }
  });
});

describe('totals', () => {
  it('are exact', () => {
    fc.assert(
      fc.property(fc.array(row), (rows) => {
        const total = totalOf(rows);
        const [whole = '', fraction = ''] = total.cost_usd.split('.');
        const nanoUsd = BigInt(whole + fraction.padEnd(9, '0'));
        expect(nanoUsd).toBe(rows.reduce((sum, one) => sum + nanoOf(one.cost_usd), 0n));
        expect(total.count).toBe(rows.length);
      }),
    );
  });
});

describe('GET /spend', () => {
  const base = fc.sample(row, { numRuns: 1, seed: 3 })[0] as LedgerRow;
  const rows: readonly LedgerRow[] = [
    {
      ...base,
      request_id: 'r1',
      api_key_name: 'team',
      model: 'vendor/small',
      session_id: 's1',
      cost_usd: '0.1',
    },
    {
      ...base,
      request_id: 'r2',
      api_key_name: 'free',
      model: 'vendor/large',
      session_id: 's1',
      cost_usd: '0.2',
    },
    {
      ...base,
      request_id: 'r3',
      api_key_name: 'team',
      model: 'vendor/large',
      session_id: null,
      cost_usd: '0.00003',
    },
  ];
  const cases: readonly (readonly [string, string, readonly string[], string])[] = [
    ['sk-admin', '', ['r1', 'r2', 'r3'], '0.30003'],
    ['sk-team', '', ['r1', 'r3'], '0.10003'],
    ['sk-free', '', ['r2'], '0.2'],
    ['sk-team', '?key=free', [], '0'],
    ['sk-admin', '?key=free', ['r2'], '0.2'],
    ['sk-admin', '?model=vendor/large', ['r2', 'r3'], '0.20003'],
    ['sk-admin', '?session=s1', ['r1', 'r2'], '0.3'],
    ['sk-admin', '?session=s1&model=vendor%2Fsmall', ['r1'], '0.1'],
    ['sk-admin', '?from=2026-01-09', [], '0'],
  ];
  it.each(cases)('shows %s%s the right rows', async (key, query, ids, cost) => {
    const ledger = await openLedger(null);
    for (const one of rows) await ledger.append(one);
    const { url } = await startGateway(sampleScript, { ledger });
    const response = await get(url, `/spend/export${query}`, key);
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    const lines = (await response.text()).split('\n').slice(0, -1);
    expect(lines.map((line) => (JSON.parse(line) as LedgerRow).request_id)).toEqual(ids);
    const total = await (await get(url, `/spend/total${query}`, key)).json();
    expect(total).toMatchObject({ count: ids.length, cost_usd: cost });
    const csv = await get(url, `/spend/export${query === '' ? '?' : `${query}&`}format=csv`, key);
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(parseCsv(await csv.text()).map((record) => record[0])).toEqual(['request_id', ...ids]);
  });
});
