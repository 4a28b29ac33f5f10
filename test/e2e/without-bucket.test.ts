/**
 * The first batch where the client of object stores is not installed: no deployment without a bucket needs it, and one
 * that names a bucket is refused, with a note of what to install, before anything begins.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { copyBatch, type BatchCopy } from './batch-copy.ts';
import { namesIn } from './folder.ts';
import { runProgram } from './running-program.ts';

const RUN_MS_MAX = 300_000;

let copy: BatchCopy;
beforeAll(() => {
  copy = copyBatch('none');
  const installed = path.join(copy.root, 'node_modules');
  const names = readdirSync(installed).filter((name) => name !== '@aws-sdk' && name !== '@smithy');
  const source = path.resolve(import.meta.dirname, '../../node_modules');
  rmSync(installed);
  mkdirSync(installed);
  for (const name of names) symlinkSync(path.join(source, name), path.join(installed, name));
});
afterAll(() => copy.close());

it(
  'runs as ever, and its results are files of its folder',
  async () => {
    const end = await runProgram(copy, 'examples/first-batch/main.js', ['--run-id', 'first-batch-plain']);
    expect([end.code, end.stderr]).toEqual([0, expect.any(String)]);
    expect(namesIn(path.join(copy.resultsDir, 'first-batch-plain'))).toContain('report.html');
  },
  RUN_MS_MAX,
);

it('says what to install where the deployment names a bucket, and begins nothing', async () => {
  const config = path.join(copy.example, 'parley.yaml');
  const store = 'store: { path: .other, blobs: { s3: { bucket: results, region: eu-central-1 } } }';
  writeFileSync(config, readFileSync(config, 'utf8').replace('store: { path: .parley }', store));
  for (const args of [['--no-preflight'], []]) {
    const end = await runProgram(copy, 'examples/first-batch/main.js', args);
    expect(end.code).not.toBe(0);
    expect(end.stdout + end.stderr).toContain('"@aws-sdk/client-s3" is not installed');
    expect(end.stdout + end.stderr).toContain('install it beside Parley');
  }
  expect(namesIn(path.join(copy.example, '.other'))).toEqual([]);
});
