/**
 * Instants as text: the calendar as it is, and no zone but what is written.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { instantFromText } from '../../core/text/instant-text.ts';

describe('an instant as text', () => {
  it('is what the standard says, for every instant of four digits', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }), (at) => {
        expect(instantFromText(new Date(at).toISOString())).toBe(at);
        expect(instantFromText(new Date(at).toUTCString())).toBe(
          /\d{4} /.test(new Date(at).toUTCString()) ? Math.floor(at / 1_000) * 1_000 : null,
        );
      }),
      { seed: 20261125, numRuns: 500 },
    );
  });

  it('is the same in UTC by any name of it, whatever stands where a digit or a sign should', () => {
    const usual = '2026-11-25T10:00:05.123456789';
    const harmed = fc.record({
      length: fc.integer({ min: 16, max: usual.length }),
      place: fc.integer({ min: 0, max: usual.length }),
      sign: fc.constantFrom(...'0123456789:-./T Zt+x\u0663'),
    });
    fc.assert(
      fc.property(harmed, ({ length, place, sign }) => {
        const text = (usual.slice(0, place) + sign + usual.slice(place + 1)).slice(0, length);
        expect(instantFromText(`${text}Z`)).toBe(instantFromText(`${text}+00:00`));
      }),
      { seed: 20261127, numRuns: 5_000 },
    );
  });

  const at = Date.UTC(2026, 10, 25, 10, 0, 5);
  it.each([
    '2026-11-25T10:00:05Z',
    '2026-11-25 10:00:05',
    '2026/11/25 10:00:05',
    '2026-11-25T10:00:05.000999Z',
    '2026-11-25 10:00:05,000',
    '2026-11-25 10:00:05 UTC',
    '2026-11-25T12:30:05+02:30',
    '2026-11-25 12:30:05+0230',
    '2026-11-25T05:00:05-05',
    'Wed, 25 Nov 2026 10:00:05 GMT',
    '25 Nov 2026 11:00:05 +0100',
  ])('reads %s', (text) => {
    expect(instantFromText(text)).toBe(at);
  });

  it.each([
    '2026-02-30',
    '2026-02-30T10:00:00Z',
    '2026-02-29 10:00:00',
    '1900-02-29',
    '2026-04-31T00:00:00Z',
    '2026-13-01',
    '2026-00-10',
    '2026-11-25T24:00:00Z',
    '2026-11-25T10:60',
    '2026-11-25T23:59:60Z',
    '2026-11-25Z',
    '11/25/2026',
    '25.11.2026',
    'Nov 25, 2026 10:00',
    'Wed, 31 Nov 2026 10:00:05 GMT',
    'Wed, 25 Nov 2026 10:00:05',
    '2026-11-25T10:00:05 CET',
    '1764064805',
    '',
  ])('does not read "%s"', (text) => {
    expect(instantFromText(text)).toBeNull();
  });

  it('reads days of leap years, and a date alone as its first instant', () => {
    expect(instantFromText('2000-02-29')).toBe(Date.UTC(2000, 1, 29));
    expect(instantFromText('2028/02/29')).toBe(Date.UTC(2028, 1, 29));
  });
});
