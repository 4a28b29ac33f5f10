/**
 * Small parts by tables: durations, nearest names, canonical JSON, templates.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { canonicalJson } from '../../core/canonical-json.ts';
import { formatDuration, parseDuration } from '../../dsl/duration.ts';
import { editDistance, nearestName } from '../../dsl/check/nearest-name.ts';
import { createInterpolator } from '../../dsl/plan/interpolate.ts';
import { parseTemplate } from '../../dsl/plan/template.ts';
import { indexLines } from '../../dsl/read/text-position.ts';

describe('durations', () => {
  it.each([
    ['90s', 90_000],
    ['45m', 2_700_000],
    ['11h30m', 41_400_000],
    ['2d', 172_800_000],
    ['0s', 0],
  ])('%s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '90', '1.5h', '30m1h', '1 h', 'h', '-1s', '1h 30m', '1234567s'])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  it('are read back as they are printed', () => {
    fc.assert(
      fc.property(fc.nat(100_000_000), (seconds) => {
        expect(parseDuration(formatDuration(seconds * 1_000))).toBe(seconds * 1_000);
      }),
    );
  });
});

describe('nearest names', () => {
  it.each([
    ['concurency', ['concurrency', 'collect'], 'concurrency'],
    ['propmt', ['prompt'], 'prompt'],
    ['Model', ['model'], 'model'],
    ['on-collect-failure', ['on_collect_failure'], 'on_collect_failure'],
    ['z', ['x', 'y'], null],
    ['colour', ['collect'], null],
  ])('%s', (name, known, expected) => {
    expect(nearestName(name, known)).toBe(expected);
  });

  it('are symmetric, and 0 only for equal names', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), (a, b) => {
        expect(Math.min(editDistance(a, b), 3)).toBe(Math.min(editDistance(b, a), 3));
        expect(editDistance(a, b) === 0).toBe(a === b);
      }),
    );
  });
});

describe('canonical JSON', () => {
  it('is one text for one value, and reads back to it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  it('sorts keys at every level and leaves out what is undefined', () => {
    expect(canonicalJson({ b: [{ d: 1, c: null }], a: undefined, A: 'é' })).toBe(
      '{"A":"é","b":[{"c":null,"d":1}]}',
    );
  });

  it('refuses what is not JSON', () => {
    for (const value of [NaN, Infinity, () => 1, undefined])
      expect(() => canonicalJson(value)).toThrow(TypeError);
  });
});

describe('templates', () => {
  const names = { inputs: {}, axes: ['x', 'y'], columns: {}, rowsFile: null, withId: true };
  const values = { id: 'a', repeat: 2, inputs: {}, matrix: { x: '1', y: '${{ matrix.x }}' }, item: {} };

  it.each([
    ['${{ matrix.x }}', '1'],
    ['${{matrix.x}}-${{ id }}', '1-a'],
    ['$${{ matrix.x }}', '${{ matrix.x }}'],
    ['$$${{ matrix.x }}', '$${{ matrix.x }}'],
    ['${{ matrix.y }}', '${{ matrix.x }}'],
    ['no {{ braces }} }} here $', 'no {{ braces }} }} here $'],
    ["${{ matrix.x == '1' ? 'one' : 'more' }} of ${{ repeat * 10 }}", 'one of 20'],
    ["${{ slug('Acme/Shop 2') }} ${{ basename('acme/shop') }}", 'acme-shop-2 shop'],
  ])('%s', (text, expected) => {
    expect(createInterpolator(names).fill(text)(values)).toBe(expected);
  });

  it('finds what is not closed, and what is empty', () => {
    const kinds = (text: string) =>
      parseTemplate(text).problems.map((problem) => `${problem.kind} ${problem.start}`);
    expect(kinds('${{ a ${{ matrix.x }}')).toEqual(['unclosed 0']);
    expect(kinds('$${{ ${{ }} ${{')).toEqual(['empty 5', 'unclosed 12']);
  });
});

describe('positions', () => {
  it('count lines and code points from 1', () => {
    const lines = indexLines('a\r\n🎉b\n');
    expect([0, 3, 5, 6, 99].map((offset) => lines.position(offset))).toEqual([
      { line: 1, column: 1 },
      { line: 2, column: 1 },
      { line: 2, column: 2 },
      { line: 2, column: 3 },
      { line: 3, column: 1 },
    ]);
    expect([1, 2, 3, 4].map((line) => lines.lineText(line))).toEqual(['a', '🎉b', '', '']);
  });
});
