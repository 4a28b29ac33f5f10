/**
 * Which repositories there are, and what is in each: names, owners, tiers and files, from the number alone.
 * Owns the rows of repos.csv and the text of every file; must not touch the disk or Git.
 *
 * As a program, `node catalogue.js`: prints repos.csv.
 */
import { pathToFileURL } from 'node:url';

/** 212 services, of which 12 are frozen: the job takes 200. */
const SERVICES = 212;
const FROZEN_EVERY = 17;
const GOLD_EVERY = 10;
const OWNERS = ['web', 'data', 'mobile', 'core', 'search'];
const UNITS = ['invoice', 'order', 'ticket'];

/** Rows of repos.csv, in its order. */
export function catalogue() {
  return Array.from({ length: SERVICES }, (_, index) => {
    const number = index + 1;
    return {
      repo: `acme/service-${String(number).padStart(3, '0')}`,
      branch: 'main',
      owner: OWNERS[index % OWNERS.length],
      tier: tierOf(number),
    };
  });
}

function tierOf(number) {
  if (number % FROZEN_EVERY === 0) return 'frozen';
  return number % GOLD_EVERY === 0 ? 'gold' : 'silver';
}

export function csvOf(rows) {
  const lines = rows.map((row) => Object.values(row).join(','));
  return `${[Object.keys(rows[0]).join(','), ...lines].join('\n')}\n`;
}

/** Path → text, of the service with this position in the catalogue. */
export function filesOf(row, index) {
  const units = UNITS.slice(0, 1 + (index % UNITS.length));
  const width = 4 + (index % 7);
  const name = row.repo.split('/')[1];
  return {
    'README.md': `# ${name}\n\nPrints labels for team ${row.owner}.\n`,
    'package.json': `${JSON.stringify({ name, version: '1.0.0', private: true, type: 'module' }, null, 2)}\n`,
    'vendor/left-pad-2.mjs': LEFT_PAD_2,
    'vendor/left-pad-3.mjs': LEFT_PAD_3,
    ...Object.fromEntries(units.map((unit) => [`src/${unit}.mjs`, sourceOf(unit, width)])),
    'test.mjs': testOf(units, width),
  };
}

const LEFT_PAD_2 = `export const leftPad = (text, width, fill = ' ') => String(text).padStart(width, fill);\n`;
/** The same with names instead of positions: what has to be changed at each call. */
const LEFT_PAD_3 = `export function leftPad(text, { width, fill = ' ' } = {}) {
  if (width === undefined) throw new TypeError('left-pad 3 takes the width by name');
  return String(text).padStart(width, fill);
}
`;

const sourceOf = (unit, width) => `import { leftPad } from '../vendor/left-pad-2.mjs';

/** The label of one ${unit}. */
export const ${unit}Label = (number) => '${unit}-' + leftPad(number, ${width}, '0');
`;

/** Fails before the upgrade, and passes when every call has been changed. */
const testOf = (units, width) => `import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
${units.map((unit) => `import { ${unit}Label } from './src/${unit}.mjs';`).join('\n')}

${units
  .map(
    (
      unit,
    ) => `assert.match(readFileSync(new URL('./src/${unit}.mjs', import.meta.url), 'utf8'), /left-pad-3/);
assert.equal(${unit}Label(7), '${unit}-${'7'.padStart(width, '0')}');`,
  )
  .join('\n')}
`;

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(csvOf(catalogue()));
