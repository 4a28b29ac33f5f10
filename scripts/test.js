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
import { unshownIds } from './spec-ids.js';
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
  const unshown = args.length === 0 ? unshownBy(readOrNull(report)) : [];
  for (const line of counts.skipped) process.stdout.write(`skipped: ${line}\n`);
  for (const line of [...counts.problems, ...unshown]) process.stdout.write(`failed: ${line}\n`);
  const failed = counts.failed + unshown.length;
  process.stdout.write(`${counts.passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Only a whole run can say that a row of the specification has no test; one without a report has failed anyway. */
function unshownBy(reportText) {
  if (reportText === null) return [];
  const specText = readFileSync('docs/spec.md', 'utf8');
  return unshownIds({ specText, reportText, strict: process.env.CI === 'true' });
}

function readOrNull(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
