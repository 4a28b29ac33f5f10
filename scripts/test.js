/**
 * `npm test`: installs, builds, runs vitest with the same arguments, and ends with one line "N passed, N failed".
 * A test that cannot run here is listed by name with its reason; under CI=true it is a failure.
 * Must not decide what a test means: the counts come from vitest's own report.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from './build.js';
import { runNode } from './child.js';
import { setup } from './setup.js';
import { countTests } from './test-report.js';

setup();
await build();

const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-test-'));
const report = path.join(folder, 'report.json');
const skips = path.join(folder, 'skips.jsonl');
const args = process.argv.slice(2);
try {
  const code = await runNode(
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...args,
    ],
    { env: { ...process.env, PARLEY_TEST_SKIPS: skips } },
  );
  const counts = countTests({
    reportText: readOrNull(report),
    skipsText: readOrNull(skips) ?? '',
    exitCode: code,
    strict: process.env.CI === 'true',
    filtered: args.some((arg) => arg === '-t' || arg.startsWith('--testNamePattern')),
  });
  for (const line of counts.skipped) process.stdout.write(`skipped: ${line}\n`);
  for (const line of counts.problems) process.stdout.write(`failed: ${line}\n`);
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function readOrNull(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
