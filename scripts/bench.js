/**
 * `npm run bench -- NAME [ARGUMENTS]`: measures one thing, as bench/NAME.ts describes it.
 * Without a name it lists what can be measured.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { runBuilt } from './run-built.js';
import { ROOT } from './setup.js';

const [name, ...args] = process.argv.slice(2);
if (name !== undefined && existsSync(path.join(ROOT, 'bench', `${name}.ts`))) {
  process.exitCode = await runBuilt(`bench/${name}.ts`, args);
} else {
  const names = existsSync(path.join(ROOT, 'bench'))
    ? readdirSync(path.join(ROOT, 'bench')).filter((file) => file.endsWith('.ts'))
    : [];
  process.stderr.write('usage: npm run bench -- NAME [ARGUMENTS]\n');
  for (const file of names) process.stderr.write(`  ${file.replace(/\.ts$/, '')}\n`);
  process.exitCode = 2;
}
