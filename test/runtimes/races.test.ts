/**
 * The table of races against the tests it names: a test that was renamed or removed is reported.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { MUTANTS } from '../mutants/mutants.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const RACES = 23;
const page = readFileSync(path.join(ROOT, 'docs/runtime-races.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => /^\| R\d+ \|/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const mutants = new Set(MUTANTS.map(({ name }) => name));

describe('the table of races', () => {
  it('has every race once, in order', () => {
    expect(rows.map(([, id]) => id)).toEqual(Array.from({ length: RACES }, (_, index) => `R${index + 1}`));
  });

  it.each(rows.map((cells) => [cells[1] ?? '', cells[4] ?? ''] as const))(
    '%s names tests that exist',
    (_, cell) => {
      const named = [...cell.matchAll(/`([^`]+\.ts)`: ([^;]+)/g)];
      expect(named.length).toBeGreaterThan(0);
      for (const [, file = '', title = ''] of named) {
        expect(existsSync(path.join(ROOT, 'test', file)), file).toBe(true);
        expect(readFileSync(path.join(ROOT, 'test', file), 'utf8')).toContain(title.trim());
      }
    },
  );

  it.each(rows.map((cells) => [cells[1] ?? '', cells[5] ?? ''] as const))(
    '%s says what fails without its rule',
    (_, cell) => {
      expect(cell).not.toBe('');
      for (const [, name = ''] of cell.matchAll(/`([a-z0-9-]+)`/g)) expect(mutants).toContain(name);
    },
  );
});
