/** What the built program loads before it can validate a file: neither runtimes nor store, proxy or engine. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, type Metafile } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { tempDir } from '../helpers/temp-dir.ts';
import { parley, ROOT } from './parley-program.ts';
import { JOB } from './rows.ts';

/** What `validate` may be made of. */
const ALLOWED_FOLDERS = ['cli', 'core', 'dsl', 'host'];
/** Every command marks what it inherited before it opens anything. */
const FIRST_OF_ALL = [
  'runtimes/on-host/inherited-descriptors.ts',
  'runtimes/on-host/guard/system-call-object.ts',
];
const ALLOWED_PACKAGES = ['@marcbachmann/cel-js', 'commander', 'yaml', 'zod'];

describe('parley validate', () => {
  let metafile: Metafile;

  beforeAll(async () => {
    const result = await build({
      absWorkingDir: ROOT,
      entryPoints: { parley: 'cli/main.ts' },
      outdir: 'dist',
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      metafile: true,
      write: false,
      logLevel: 'silent',
    });
    metafile = result.metafile;
  });

  it('loads the language, and nothing that runs', () => {
    const loaded = loadedBy(metafile, ['cli/main.ts', 'cli/commands/validate.ts']);
    const sources = loaded.sources.filter((source) => !FIRST_OF_ALL.includes(source));
    expect(sources).toHaveLength(loaded.sources.length - FIRST_OF_ALL.length);
    const folders = new Set(sources.map((source) => source.split('/')[0]));
    expect([...folders].sort()).toEqual(ALLOWED_FOLDERS);
    const runs = /^host\/(engines|owner|proxy|sandboxes|serve|worker|host\.ts|wired-world\.ts)/;
    expect(loaded.sources.filter((source) => runs.test(source))).toEqual([]);
    expect(loaded.packages).toEqual(ALLOWED_PACKAGES);
  });

  it('is not alone in leaving Temporal out: only its engine loads that', () => {
    const commands = ['run', 'resume', 'cancel', 'worker', 'status', 'config', 'doctor', 'temporal'];
    const entries = ['cli/main.ts', 'host/host.ts', ...commands.map((name) => `cli/commands/${name}.ts`)];
    const ofTemporal = (name: string): boolean => name.startsWith('@temporalio/');
    expect(loadedBy(metafile, entries).packages.filter(ofTemporal)).toEqual([]);
    const engine = loadedBy(metafile, ['host/engines/temporal-engine.ts']);
    expect(engine.packages.filter(ofTemporal)).toContain('@temporalio/worker');
    // Who only asks does not load what carries out.
    expect(loadedBy(metafile, ['host/engines/temporal-client.ts']).packages).not.toContain(
      '@temporalio/worker',
    );
  });

  it('is not alone in leaving the client of S3 out: only a bucket loads it, when it is first used', () => {
    const entries = ['cli/main.ts', 'host/host.ts', 'host/deployed-files.ts', 'store/blobs/s3-bucket.ts'];
    const commands = ['run', 'collect', 'report', 'show', 'apply', 'serve', 'worker'];
    const loaded = loadedBy(metafile, [...entries, ...commands.map((name) => `cli/commands/${name}.ts`)]);
    expect(loaded.packages.filter((name) => /^@(aws-sdk|smithy)\//.test(name))).toEqual([]);
    const later = Object.entries(metafile.inputs).flatMap(([file, { imports }]) =>
      imports.flatMap(({ path: name, kind }) =>
        name.startsWith('@aws-sdk/') ? [`${file} ${kind} ${name}`] : [],
      ),
    );
    expect(later).toEqual([
      'store/blobs/s3-bucket.ts dynamic-import @aws-sdk/client-s3',
      'store/blobs/s3-bucket.ts dynamic-import @aws-sdk/lib-storage',
    ]);
  });

  it('would be told from a command that does load them', () => {
    const loaded = loadedBy(metafile, ['host/host.ts']);
    expect(loaded.sources.some((source) => source.startsWith('store/'))).toBe(true);
    expect(loaded.sources.some((source) => source.startsWith('runtimes/'))).toBe(true);
  });

  it('is what the built command does', async () => {
    const cwd = tempDir();
    writeFileSync(path.join(cwd, 'job.yaml'), JOB);
    expect((await parley(['validate', 'job.yaml'], { cwd })).exitCode).toBe(0);
    expect((await parley(['--version'], { cwd })).stdout).toMatch(
      /^\d+\.\d+\.\d+ \((commit [0-9a-f]{12}( of \d{4}-\d\d-\d\d)?(, changed)?, )?build [0-9a-f]{12}\)\n$/,
    );
  });
});

/** Sources and packages that are loaded with these entries, over static imports only. */
function loadedBy(
  { outputs }: Metafile,
  entries: readonly string[],
): { readonly sources: readonly string[]; readonly packages: readonly string[] } {
  const queue = Object.keys(outputs).filter((name) => entries.includes(outputs[name]?.entryPoint ?? ''));
  const chunks = new Set(queue);
  const packages = new Set<string>();
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    for (const one of outputs[name]?.imports ?? []) {
      if (one.kind !== 'import-statement') continue;
      if (one.external === true) {
        if (!one.path.startsWith('node:')) packages.add(one.path);
      } else if (!chunks.has(one.path)) {
        chunks.add(one.path);
        queue.push(one.path);
      }
    }
  }
  const sources = [...chunks].flatMap((name) => Object.keys(outputs[name]?.inputs ?? {}));
  return { sources, packages: [...packages].sort() };
}
