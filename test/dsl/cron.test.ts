/** Cron expressions: what is one, where a wrong one is wrong, and which never fires. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCron } from '../../dsl/schedule/cron.ts';
import { isTimeZone } from '../../dsl/check/check-schedule.ts';

/** The part of the text that is wrong; null when nothing is. */
function wrongPart(text: string): string | null {
  const read = parseCron(text);
  return read.kind === 'cron' ? null : text.slice(read.problem.start, read.problem.end);
}

describe('parseCron()', () => {
  it.each([
    '* * * * *',
    '0 2 * * *',
    '*/15 0-6,22,23 1-31/2 jan-MAR *',
    '5/10 4 * * mon-fri',
    '0 0 * * 0,7',
    '  30   2 * * 1-5 ',
    '@daily',
    '@hourly',
  ])('reads "%s"', (text) => {
    expect(parseCron(text)).toEqual({ kind: 'cron', canFire: true });
  });

  it.each([
    ['60 * * * *', '60'],
    ['0 24 * * *', '24'],
    ['0 0 0 * *', '0'],
    ['0 0 * 13 *', '13'],
    ['0 0 * * 8', '8'],
    ['0 0 * * funday', 'funday'],
    ['1,,2 * * * *', ''],
    ['9-5 * * * *', '9-5'],
    ['*/0 * * * *', '*/0'],
    ['5- * * * *', '5-'],
    ['-1 * * * *', '-1'],
    ['@never', '@never'],
    ['@daily now', 'now'],
    ['0 0 1 * mon', 'mon'],
  ])('refuses "%s" at "%s"', (text, part) => {
    expect(wrongPart(text)).toBe(part);
  });

  it.each(['', '0 0 * *', '0 0 * * * *'])('refuses "%s" as a whole', (text) => {
    expect(wrongPart(text)).toBe(text);
  });

  it.each([
    ['0 0 30 2 *', false],
    ['0 0 31 2,4,6,9,11 *', false],
    ['0 0 31 2,3 *', true],
    ['0 0 29 2 *', true],
    ['0 0 30,1 2 *', true],
  ])('of "%s" says whether it ever fires: %s', (text, canFire) => {
    expect(parseCron(text)).toEqual({ kind: 'cron', canFire });
  });

  it('reads every list of values within bounds, and points into the text at anything else', () => {
    const minute = fc.integer({ min: 0, max: 59 });
    const piece = fc.oneof(
      minute.map(String),
      fc.tuple(minute, minute).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
      fc.integer({ min: 1, max: 30 }).map((step) => `*/${step}`),
    );
    const list = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(','));
    fc.assert(
      fc.property(list, (first) => {
        expect(wrongPart(`${first} * * * *`)).toBeNull();
      }),
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (text) => {
        const read = parseCron(text);
        if (read.kind === 'cron') return;
        expect(read.problem.start).toBeGreaterThanOrEqual(0);
        expect(read.problem.end).toBeGreaterThanOrEqual(read.problem.start);
        expect(read.problem.end).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});

describe('isTimeZone()', () => {
  it('knows names of the IANA list, and no others', () => {
    expect(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires'].map(isTimeZone)).toEqual([
      true,
      true,
      true,
    ]);
    expect(['Europe/Atlantis', '', 'Berlin'].map(isTimeZone)).toEqual([false, false, false]);
  });
});
