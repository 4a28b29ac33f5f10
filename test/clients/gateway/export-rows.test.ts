/** Rows as gateways spell them, and what is refused. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatNano, nanoUsd } from '../../../core/money/money.ts';
import { parseExport } from '../../../clients/gateway/export-rows.ts';

const line = (row: object) => `${JSON.stringify(row)}\n`;
const ROW = { request_id: 'r', time_start: '2026-11-21T10:00:00Z', model: 'm', cost_usd: '0.1' };

describe('parseExport()', () => {
  it.each([
    ['0.000001237', 1_237],
    ['1.237e-06', 1_237],
    [1.237e-6, 1_237],
    ['1.2375E-6', 1_238],
    ['1.2365E-6', 1_236],
    ['12E+1', 120_000_000_000],
    [0, 0],
    ['-0.5', -500_000_000],
  ])('reads the amount %s as %i nano-USD', (cost, nano) => {
    expect(parseExport(line({ ...ROW, cost_usd: cost }), 'jsonl')[0]?.cost).toBe(nano);
  });

  it('reads every nano-USD exactly, from JSON lines and from CSV', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (amount) => {
        const cost = formatNano(nanoUsd(amount));
        expect(parseExport(line({ ...ROW, cost_usd: cost }), 'jsonl')[0]?.cost).toBe(amount);
        expect(parseExport(`time,cost\n2026-11-21,${cost}\n`, 'csv')[0]?.cost).toBe(amount);
      }),
    );
  });

  it.each(['2026-02-30T10:00:00Z', '2026-02-29', '11/25/2026', 'Nov 25, 2026 10:00', '2026-11-25 10:00 CET'])(
    'refuses the time "%s", which is none or no one knows whose',
    (time) => {
      const row = { response_id: 'r', startTime: time, model: 'm', cost_usd: '1' };
      expect(() => parseExport(JSON.stringify([row]), 'json')).toThrow(`is "${time}"`);
    },
  );

  it('takes the other names of fields, and a time without a zone as UTC', () => {
    const row = {
      id: 'x',
      startTime: '2026-11-21T10:00:00.125',
      endTime: '2026-11-21 10:00:01',
      spend: 1,
      request_tags: ['a'],
    };
    const metadata = JSON.stringify({ attempt_id: 'AAAA-bbbb' });
    expect(parseExport(line({ ...row, metadata, session_id: 'CC-DD' }), 'jsonl')).toEqual([
      {
        responseId: 'x',
        startedAt: Date.UTC(2026, 10, 21, 10, 0, 0, 125),
        endedAt: Date.UTC(2026, 10, 21, 10, 0, 1),
        model: '',
        sessionId: 'ccdd',
        tags: ['a'],
        keyName: null,
        promptTokens: 0,
        completionTokens: 0,
        cost: 1_000_000_000,
        metadataSessionId: 'aaaabbbb',
        position: 1,
      },
    ]);
  });

  it.each([
    ['{"a":', 'jsonl', 'row 2 of the export: it is not JSON'],
    ['null', 'jsonl', 'row 2 of the export: it is not an object'],
    ['[]', 'jsonl', 'row 2 of the export: it is not an object'],
    [
      line({ ...ROW, cost_usd: 'free' }),
      'jsonl',
      'row 2 of the export: its field "cost" is "free" (column "cost_usd"); name the right column with --map cost=COLUMN',
    ],
    [
      line({ ...ROW, cost_usd: null }),
      'jsonl',
      'row 2 of the export: its field "cost" is missing (no value in "cost_usd", "spend", "cost"; the row has ',
    ],
    [
      line({ ...ROW, time_start: 'noon' }),
      'jsonl',
      'row 2 of the export: its field "started_at" is "noon" (column "time_start")',
    ],
  ] as const)('names the row at fault: %s', (bad, format, words) => {
    expect(() => parseExport(line(ROW) + bad, format)).toThrow(words);
  });

  it('refuses CSV with a broken quote or a short row, and reads an empty one', () => {
    expect(() => parseExport('time,cost\n"2026-11-21,1\n', 'csv')).toThrow('Cannot read the export');
    expect(() => parseExport('time,cost\n2026-11-21\n', 'csv')).toThrow('Cannot read the export');
    expect(parseExport('time,cost\n', 'csv')).toEqual([]);
    expect(parseExport('', 'jsonl')).toEqual([]);
  });
});
