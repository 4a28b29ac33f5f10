/** The table of figures: what a bench reports, how a row reads, and that the page names only repeatable measures. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { BENCHES, chosen, nameOf } from '../../bench/all/benches.ts';
import { FIGURES_FILE, tell, toldIn } from '../../bench/all/figure.ts';
import { figureRow, figuresTable, pageWith } from '../../bench/all/figures-table.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(path.join(ROOT, 'docs/bench.md'), 'utf8');
const EMPTY =
  '# B\n\n<!-- figures: npm run bench -- all --write -->\n<!-- end of the figures -->\n\n## More\n';

/** What each row of the page's table says was run. */
function commandsOf(page: string): readonly string[] {
  const rows = page
    .slice(page.indexOf('<!-- figures:'), page.indexOf('<!-- end of the figures -->'))
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  return rows.map((row) => /^\| `([^`]+)` \|/.exec(row)?.[1] ?? row);
}

afterEach(() => delete process.env[FIGURES_FILE]);

it('names in every row of docs/bench.md a bench that exists', () => {
  const commands = commandsOf(PAGE);
  expect(commands.length).toBeGreaterThan(10);
  expect(commands.filter((command) => !BENCHES.includes(command))).toEqual([]);
});

it('starts only benches that exist, and describes each on the page', () => {
  const names = BENCHES.map(nameOf);
  expect(names.filter((name) => !existsSync(path.join(ROOT, `bench/${name}.ts`)))).toEqual([]);
  expect(names.filter((name) => !PAGE.includes(`\n## ${name}\n`))).toEqual([]);
});

it('reads whether an aim is reached off the figure itself, with three digits', () => {
  const speed = { what: 'speed', unit: '', aim: ['≥', 1_500] as const };
  expect(figureRow('engine', { ...speed, value: 1_499.6 })).toBe(
    '| `engine` | speed | 1,500 | ≥ 1,500 | no |',
  );
  expect(figureRow('engine', { ...speed, value: 12_345 })).toBe(
    '| `engine` | speed | 12,345 | ≥ 1,500 | yes |',
  );
  expect(figureRow('engine', { what: 'time', value: 0.70349, unit: 'ms', aim: ['≤', 0.7] })).toBe(
    '| `engine` | time | 0.703 ms | ≤ 0.7 | no |',
  );
  expect(figureRow('engine', { what: 'none', value: 0, unit: '' })).toBe('| `engine` | none | 0 |  |  |');
});

it('keeps what could not be measured as a row with its reason, whatever that is', () => {
  const skipped = 'it ended with 1: a | b\n| c |';
  expect(figureRow('proxy', { what: 'litellm', skipped })).toBe(
    '| `proxy` | litellm | skipped: it ended with 1: a \\| b \\| c \\| |  |  |',
  );
});

it('carries figures from a bench over a file, leaves out what is no number, and is silent without one', () => {
  const file = path.join(tempDir(), 'figures.jsonl');
  const one = { what: 'one', value: 1, unit: 'ms' };
  tell(one);
  expect(toldIn(file)).toEqual([]);
  process.env[FIGURES_FILE] = file;
  tell(one);
  tell({ what: 'ratio of what was not there', value: Number.NaN, unit: 'times' });
  tell({ what: 'rest', skipped: 'not installed' });
  expect(toldIn(file)).toEqual([one, { what: 'rest', skipped: 'not installed' }]);
});

it('replaces the table of a page and nothing else, as often as one likes', () => {
  const rows = BENCHES.slice(0, 2).map((command) => figureRow(command, { what: 'a', value: 1, unit: '' }));
  const page = pageWith(EMPTY, figuresTable('2026-11-28, two cores', rows));
  expect(commandsOf(page)).toEqual(BENCHES.slice(0, 2));
  expect(page).toContain('Measured at 2026-11-28, two cores.');
  expect(page.endsWith('\n\n## More\n')).toBe(true);
  expect(pageWith(page, figuresTable('2026-11-28, two cores', rows))).toBe(page);
  expect(() => pageWith('# B\n', '')).toThrow('the page has no');
  expect(commandsOf(EMPTY)).toEqual([]);
});

it('measures what is asked for by name, and refuses a name that is none', () => {
  expect(chosen(undefined, undefined)).toEqual(BENCHES);
  expect(chosen('api,dsl', undefined).map(nameOf)).toEqual(['dsl', 'api', 'api']);
  expect(chosen('api,dsl', 'api')).toEqual(['dsl']);
  expect(() => chosen('apy', undefined)).toThrow(
    'Cannot measure "apy": the benches of all are engine, temporal',
  );
});
