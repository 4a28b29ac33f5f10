/**
 * `npm run bench -- NAME [ARGUMENTS]`: measures one thing, as bench/NAME.ts describes it, and first says when, where and
 * of which commit. Without a name it lists what can be measured.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runBuilt } from './run-built.js';
import { ROOT } from './setup.js';

const [name, ...args] = process.argv.slice(2);
if (name !== undefined && existsSync(path.join(ROOT, 'bench', `${name}.ts`))) {
  const place = placeAndTime();
  // A document of figures stays one.
  (args.includes('--json') || name === 'all' ? process.stderr : process.stdout).write(`${place}\n`);
  process.env.BENCH_PLACE = place;
  process.exitCode = await runBuilt(`bench/${name}.ts`, args);
} else {
  const names = existsSync(path.join(ROOT, 'bench'))
    ? readdirSync(path.join(ROOT, 'bench')).filter((file) => file.endsWith('.ts'))
    : [];
  process.stderr.write('usage: npm run bench -- NAME [ARGUMENTS]\n');
  for (const file of names) process.stderr.write(`  ${file.replace(/\.ts$/, '')}\n`);
  process.exitCode = 2;
}

function placeAndTime() {
  const cpus = os.cpus();
  const git = (...words) => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain') === '' ? '' : ', with changes';
  return [
    new Date().toISOString(),
    `${cpus.length} cores of ${cpus[0]?.model ?? 'an unknown processor'}`,
    `Node ${process.versions.node}`,
    `commit ${git('rev-parse', '--short', 'HEAD')}${changed}`,
    `load ${os.loadavg()[0].toFixed(1)}`,
  ].join(', ');
}
