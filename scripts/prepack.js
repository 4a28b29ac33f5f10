/**
 * Makes what `npm pack` takes besides the sources' list: built programs, declarations of what can be imported, the
 * commit that they were made of, and the lock file, so that an installation gets the packages that were tested.
 * `npm pack` and `npm publish` call it; `scripts/postpack.js` takes the lock file away again.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build as buildPrograms } from './build.js';
import { runNode } from './child.js';
import { ROOT, setup } from './setup.js';

/** What package.json exports with types. */
const TYPED = ['api/client/client.ts', 'testing/index.ts', 'testing/vitest.ts'];

setup();
await buildPrograms();
// Chunks of an earlier build may still be loaded by a program that runs; nothing else needs them.
const { files, hash: build } = JSON.parse(readFileSync(path.join(ROOT, 'dist', '.build.json'), 'utf8'));
const stale = readdirSync(path.join(ROOT, 'dist')).filter(
  (file) => file.startsWith('chunk-') && !files.includes(file),
);
const beside = ['.build.json', '.build-stats', '*.lock', 'run', 'test'];
writeFileSync(path.join(ROOT, 'dist', '.npmignore'), `${[...beside, ...stale].join('\n')}\n`);
const types = path.join(ROOT, 'dist', 'types');
rmSync(types, { recursive: true, force: true });
const options = [
  ...['--declaration', '--emitDeclarationOnly', '--noEmit', 'false'],
  ...['--outDir', types, '--rootDir', ROOT],
];
const strict = [
  ...['--skipLibCheck', '--module', 'nodenext', '--target', 'es2023'],
  ...['--strict', '--types', 'node'],
];
const modern = ['--allowImportingTsExtensions', '--exactOptionalPropertyTypes', '--ignoreConfig'];
const code = await runNode(['node_modules/typescript/bin/tsc', ...options, ...strict, ...modern, ...TYPED]);
if (code !== 0) process.exit(code);
const git = spawnSync('git', ['log', '-1', '--format=%H %cI'], { cwd: ROOT, encoding: 'utf8' });
const changed = spawnSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' });
const [commit, date] = git.status === 0 ? git.stdout.trim().split(' ') : [null, null];
const release = { commit, date, isChanged: commit !== null && changed.stdout.trim() !== '', build };
writeFileSync(path.join(ROOT, 'dist', 'release.json'), `${JSON.stringify(release)}\n`);
copyFileSync(path.join(ROOT, 'package-lock.json'), path.join(ROOT, 'npm-shrinkwrap.json'));
