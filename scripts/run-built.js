/**
 * Bundles one TypeScript program of the repository (a bench, a generator) into dist/run/ and runs it.
 * Called as `node scripts/run-built.js FILE.ts [ARGUMENTS]`; the program runs in the root of the repository.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './build.js';
import { bundle } from './bundle.js';
import { runNode } from './child.js';
import { ROOT, setup } from './setup.js';

/** Builds the products and `source`, runs it with `args`, and resolves with its exit code. */
export async function runBuilt(source, args) {
  setup();
  await build();
  const outfile = path.join(ROOT, 'dist', 'run', `${source.replace(/\.ts$/, '').replaceAll('/', '-')}.mjs`);
  await bundle({ entryPoints: [source], outfile, format: 'esm', packages: 'external' });
  return await runNode(['--enable-source-maps', outfile, ...args]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [source, ...args] = process.argv.slice(2);
  if (source === undefined) {
    process.stderr.write('usage: node scripts/run-built.js FILE.ts [ARGUMENTS]\n');
    process.exitCode = 2;
  } else {
    process.exitCode = await runBuilt(source, args);
  }
}
