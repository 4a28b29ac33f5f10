/**
 * `npm run fuzz [-- --inputs N] [--seed N]`: plays inputs at every border where a sandbox speaks, 200,000 in all unless
 * other options say so, and prints how many each border had and what memory they left behind.
 * Owns the table; what is an input, and what must hold, is test/escape/fuzzed-borders.test.ts.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { spawnSync } from 'node:child_process';
import { ROOT } from './setup.js';

const INPUTS = '200000';

const { values } = parseArgs({
  options: { inputs: { type: 'string', default: INPUTS }, seed: { type: 'string' } },
});
if (!/^[1-9]\d{0,9}$/.test(values.inputs)) {
  process.stderr.write('usage: npm run fuzz [-- --inputs N] [--seed N]\n');
  process.exit(2);
}
const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-fuzz-'));
const counts = path.join(folder, 'counts.jsonl');
const seed = values.seed === undefined ? {} : { PARLEY_SEED: values.seed };
const { status } = spawnSync(
  process.execPath,
  ['scripts/test.js', '--strict', 'test/escape/fuzzed-borders'],
  {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, PARLEY_FUZZ: values.inputs, PARLEY_FUZZ_COUNTS: counts, ...seed },
  },
);
const rows = existsSync(counts) ? readFileSync(counts, 'utf8').trim().split('\n').map(JSON.parse) : [];
rmSync(folder, { recursive: true, force: true });
for (const { name, inputs, keptMiB } of rows)
  process.stdout.write(
    `${name.padEnd(28)} ${String(inputs).padStart(8)} inputs  ${keptMiB.toFixed(1)} MiB kept\n`,
  );
const all = rows.reduce((sum, { inputs }) => sum + inputs, 0);
process.stdout.write(`${all} inputs at ${rows.length} borders\n`);
process.exitCode = status ?? 1;
