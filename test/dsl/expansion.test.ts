/**
 * Expansion as a law: as many items as an independent count, keys unique, and a hash that order and place do not change.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { compileJob } from '../../dsl/compile-job.ts';
import type { JobWorld } from '../../dsl/world.ts';
import { testWorld } from './test-world.ts';

interface Shape {
  readonly rows: number;
  readonly first: number;
  readonly second: number;
  readonly repeat: number;
  /** Rows kept: those whose number is at least this. */
  readonly from: number;
  readonly excluded: boolean;
}

const shape: fc.Arbitrary<Shape> = fc.record({
  rows: fc.integer({ min: 1, max: 6 }),
  first: fc.integer({ min: 2, max: 4 }),
  second: fc.integer({ min: 1, max: 3 }),
  repeat: fc.integer({ min: 1, max: 3 }),
  from: fc.integer({ min: 1, max: 6 }),
  excluded: fc.boolean(),
});

/** Counts by walking every combination, as a reader of the job would. */
function countOf({ rows, first, second, repeat, from, excluded }: Shape): number {
  let count = 0;
  for (let row = 1; row <= rows; row += 1)
    for (let a = 0; a < first; a += 1)
      for (let b = 0; b < second; b += 1)
        for (let copy = 1; copy <= repeat; copy += 1)
          if (row >= from && !(excluded && a === 0 && row % 2 === 0)) count += 1;
  return count;
}

const values = (count: number, envelope: string) =>
  Array.from({ length: count }, (_, at) => `${envelope}${at}`);

function jobOf({ first, second, repeat, from, excluded }: Shape): Record<string, unknown> {
  return {
    kind: 'job',
    version: 1,
    name: 'demo',
    defaults: { model: 'fast', tags: { team: 'web', cost: 'low' } },
    conversations: [
      {
        id: 'a',
        items: { csv: 'rows.csv', where: `int(item.number) >= ${from}` },
        matrix: { x: values(first, 'x'), y: values(second, 'y') },
        repeat,
        ...(excluded ? { exclude: [{ x: 'x0', when: 'int(item.number) % 2 == 0' }] } : {}),
        key: '${{ item.number }}/${{ matrix.x }}/${{ matrix.y }}/${{ repeat }}',
        prompt: 'Do ${{ item.number }} with ${{ matrix.x }} and ${{ matrix.y }}.',
      },
    ],
  };
}

function worldOf({ rows }: Shape): JobWorld {
  const text = `number\n${Array.from({ length: rows }, (_, at) => `${at + 1}\n`).join('')}`;
  return { ...testWorld, readRows: () => ({ chunks: [text] }) };
}

/** Keys of every map in reverse; axes keep their order, which is meant. */
function reversed(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => reversed(each));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, reversed(each, name)] as const);
  return Object.fromEntries(key === 'matrix' ? entries : entries.reverse());
}

describe('expansion', () => {
  it('gives as many items as an independent count, and no two with one key', () => {
    fc.assert(
      fc.property(shape, (one) => {
        const excludesNothing =
          one.excluded &&
          !Array.from({ length: one.rows }, (_, at) => at + 1).some(
            (row) => row >= one.from && row % 2 === 0,
          );
        fc.pre(one.from <= one.rows && !excludesNothing);
        const { plan, diagnostics } = compileJob(
          { path: 'job.yaml', text: stringify(jobOf(one)) },
          worldOf(one),
        );
        expect(diagnostics).toEqual([]);
        expect(plan?.items.length).toBe(countOf(one));
        expect(new Set(plan?.items.map(({ key }) => key)).size).toBe(plan?.items.length);
        expect(plan?.items.map(({ index }) => index)).toEqual([...(plan?.items.keys() ?? [])]);
      }),
      { seed: 20261122, numRuns: 80 },
    );
  });

  it('gives one hash whatever the order of keys, the spelling, and where the file lies', () => {
    fc.assert(
      fc.property(shape, (one) => {
        fc.pre(one.from <= one.rows && !one.excluded);
        const job = jobOf(one);
        const world = worldOf(one);
        const hashes = [
          compileJob({ path: 'job.yaml', text: stringify(job) }, world),
          compileJob({ path: 'far/away/other.yaml', text: stringify(reversed(job)) }, world),
          compileJob({ path: 'job.yaml', text: JSON.stringify(job) }, world),
        ].map(({ plan }) => plan?.hash);
        expect(hashes[0]).toBeDefined();
        expect(new Set(hashes).size).toBe(1);
      }),
      { seed: 20261122, numRuns: 30 },
    );
  });

  it('plans 10,001 rows and refuses one more than 100,000, without reading the rest', () => {
    let read = 0;
    const job = stringify({
      ...jobOf({ rows: 1, first: 2, second: 1, repeat: 1, from: 1, excluded: false }),
      conversations: [
        {
          id: 'a',
          items: { csv: 'rows.csv' },
          key: 'n/${{ item.number }}',
          model: 'fast',
          prompt: 'Do ${{ item.number }}.',
        },
      ],
    });
    const rowsUpTo = (count: number): JobWorld => ({
      ...testWorld,
      sha256: (text) => `${text.length}`,
      readRows: () => ({
        chunks: (function* chunks() {
          yield 'number\n';
          for (let row = 1; row <= count; row += 1) {
            read = row;
            yield `${row}\n`;
          }
        })(),
      }),
    });
    expect(compileJob({ path: 'job.yaml', text: job }, rowsUpTo(10_001)).plan?.items.length).toBe(10_001);
    const { plan, diagnostics } = compileJob({ path: 'job.yaml', text: job }, rowsUpTo(900_000));
    expect(plan).toBeNull();
    expect(diagnostics.map(({ code }) => code)).toEqual(['JOB311']);
    expect(read).toBeLessThan(100_010);
  });
});
