/** What the images are made of, as files: the packages that run, and no trace of when or by whom it was built. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runtimePackages, writeImageFiles, writeOrigin } from '../../scripts/image-files.js';
import { tempDir } from '../helpers/temp-dir.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

describe('runtimePackages', () => {
  const packages = runtimePackages(ROOT);

  it('names what package.json depends on, peers included, with what those depend on', () => {
    for (const name of [
      'fastify',
      'kysely',
      '@temporalio/worker',
      '@temporalio/core-bridge',
      'dockerode',
      'docker-modem',
    ])
      expect(packages).toContain(`node_modules/${name}`);
  });

  it('names nothing that only builds or tests', () => {
    const { devDependencies, peerDependencies } = JSON.parse(
      readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
    ) as Record<'devDependencies' | 'peerDependencies', Record<string, string>>;
    const builds = ['vitest', 'typescript', 'esbuild', 'eslint', 'prettier', 'vite', '@temporalio/testing'];
    expect(builds.filter((name) => !(name in devDependencies) && !(name in peerDependencies))).toEqual([]);
    for (const name of builds) expect(packages).not.toContain(`node_modules/${name}`);
  });
});

/** The trees of a small checkout: folder, all entries, and the files among them. */
function written(): {
  readonly root: string;
  readonly target: string;
  readonly entries: readonly string[];
  readonly files: readonly string[];
} {
  const root = tempDir();
  const put = (name: string, text = name): void => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text, { mode: 0o600 });
  };
  for (const name of [
    'agent-server.cjs',
    'agent-server.cjs.compiled',
    'agent-openhands.cjs',
    'sandbox-init.cjs',
  ])
    put(`dist/${name}`);
  for (const name of ['parley.js', 'workspace-reader.cjs', '.build-stats', 'run/bench.mjs', 'testing.js'])
    put(`dist/${name}`);
  for (const name of ['index.js', 'index.d.ts', 'index.js.map', 'LICENSE']) put(`node_modules/kept/${name}`);
  put('node_modules/built/index.js');
  put('schema/job.v1.json');
  put('package.json', '{}');
  put('dist/.build.json', JSON.stringify({ hash: 'b1d' }));
  const lock = {
    '': { dependencies: { kept: '1' } },
    'node_modules/kept': {},
    'node_modules/built': { dev: true },
  };
  put('package-lock.json', JSON.stringify({ packages: lock }));
  const target = path.join(tempDir(), 'images');
  writeImageFiles(target, root);
  const entries = readdirSync(target, { recursive: true, encoding: 'utf8' }).sort();
  const files = entries.filter((entry) => lstatSync(path.join(target, entry)).isFile());
  return { root, target, entries, files };
}

describe('writeImageFiles', () => {
  it('takes what runs', () => {
    const { entries, files } = written();
    expect(files.filter((file) => file.startsWith('parley/'))).toEqual([
      ...[
        'agent-openhands.cjs',
        'agent-server.cjs',
        'agent-server.cjs.compiled',
        'parley.js',
        'sandbox-init.cjs',
      ].map((name) => `parley/opt/parley/dist/${name}`),
      'parley/opt/parley/dist/workspace-reader.cjs',
      ...['LICENSE', 'index.js'].map((name) => `parley/opt/parley/node_modules/kept/${name}`),
      'parley/opt/parley/package.json',
      'parley/opt/parley/schema/job.v1.json',
      'parley/usr/local/bin/parley',
    ]);
    expect(entries).toContain('sandbox/opt/parley-guard');
    expect(entries).toContain('sandbox/run/parley/agent');
  });

  it('has the same time everywhere, and can be read by everybody', () => {
    const { target, entries } = written();
    for (const entry of entries) {
      const { mtimeMs, mode } = lstatSync(path.join(target, entry));
      expect(mtimeMs).toBe(0);
      expect(mode & 0o444).toBe(0o444);
      expect(mode & 0o022).toBe(0);
    }
  });
});

describe('writeOrigin', () => {
  it.each([
    ['c0ffee 2026-11-28T10:00:00+01:00', { commit: 'c0ffee', date: '2026-11-28T10:00:00+01:00' }],
    ['', { commit: null, date: null }],
  ])('says of %j what the image was made of, and not when', (origin, expected) => {
    const { root, target } = written();
    writeOrigin(target, origin, root);
    const file = path.join(target, 'parley/opt/parley/dist/release.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ ...expected, isChanged: false, build: 'b1d' });
    expect([lstatSync(file).mtimeMs, lstatSync(path.dirname(file)).mtimeMs]).toEqual([0, 0]);
  });
});
