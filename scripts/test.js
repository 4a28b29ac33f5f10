/**
 * `npm test`: installs, builds, runs vitest with the same arguments, and ends with one line "N passed, N failed".
 * A test that cannot run here is listed with its group and reason; under CI=true it is a failure. A file that starts real
 * programs has a second try, unless `--strict` is given: what needed it is printed, and kept in dist/test/flaky.json.
 * Must not decide what a test means: the counts come from vitest's own reports.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from './build.js';
import { runNode } from './child.js';
import { realTests } from './real-tests.js';
import { readOrNull, ROOT, setup } from './setup.js';
import { unshownIds } from './spec-ids.js';
import { countTests, failedFiles, mergeTries, slowestFiles } from './test-report.js';

/** More failed files than this are no accident, and a second try of them would only take time. */
const AGAIN_MAX = 12;

setup();
await build();

const FOLDER = path.join(ROOT, 'dist', 'test');
const isStrict = process.argv.includes('--strict');
const args = process.argv.slice(2).filter((arg) => arg !== '--strict');
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });

const first = await run('report', args);
const again = isStrict || first.reportText === null ? [] : secondTries(first.reportText);
const { reportText, exitCode, flaky } = again.length === 0 ? { ...first, flaky: [] } : await tryAgain(again);
const counts = countTests({
  reportText,
  skipsText: readOrNull(path.join(FOLDER, 'skips.jsonl')) ?? '',
  exitCode,
  strict: process.env.CI === 'true',
  filtered: nameFilter().length > 0,
});
const unshown = args.length === 0 ? unshownBy(reportText) : [];
const failed = counts.failed + unshown.length;
if (flaky.length > 0) writeFileSync(path.join(FOLDER, 'flaky.json'), `${JSON.stringify(flaky, null, 2)}\n`);
const lines = [
  ...(reportText === null ? [] : ['the slowest files:', ...slowestFiles(reportText)]),
  ...counts.skipped.map((line) => `skipped: ${line}`),
  ...flaky.map(({ title, reason }) => `flaky: ${title} (${reason})`),
  ...[...counts.problems, ...unshown].map((line) => `failed: ${line}`),
  `${counts.passed} passed, ${failed} failed`,
];
process.stdout.write(`${lines.join('\n').replaceAll(`${ROOT}${path.sep}`, '')}\n`);
process.exitCode = failed === 0 ? 0 : 1;

/** One run of vitest, with its report kept under that name. */
async function run(name, vitestArgs) {
  const report = path.join(FOLDER, `${name}.json`);
  const exitCode = await runNode(
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=default',
      '--reporter=json',
      '--reporter=./scripts/failure-reporter.js',
      `--outputFile.json=${report}`,
      ...vitestArgs,
    ],
    { env: { ...process.env, PARLEY_TEST_SKIPS: path.join(FOLDER, 'skips.jsonl') } },
  );
  return { exitCode, reportText: readOrNull(report) };
}

/** The failed files that start real programs; none when so much failed that it was no accident. */
function secondTries(text) {
  const real = new Set(realTests(ROOT).map((file) => path.join(ROOT, file)));
  const files = failedFiles(text).filter((file) => real.has(file));
  return files.length > AGAIN_MAX ? [] : files;
}

/** Whole files: what a test shares with its neighbours is made anew. */
async function tryAgain(files) {
  process.stdout.write(`second try of ${files.length} files that start real programs\n`);
  const second = await run('second-try', [...nameFilter(), ...files]);
  if (second.reportText === null) return { ...first, flaky: [] };
  const merged = mergeTries(first.reportText, second.reportText);
  const isGood = failedFiles(merged.reportText).length === 0;
  return { ...merged, exitCode: isGood ? 0 : first.exitCode };
}

/** The arguments that choose tests by their names. */
function nameFilter() {
  const at = args.findIndex((arg) => arg === '-t' || arg.startsWith('--testNamePattern'));
  if (at < 0) return [];
  return args[at].includes('=') ? [args[at]] : args.slice(at, at + 2);
}

/** Only a whole run can say that a row of the specification has no test; one without a report has failed anyway. */
function unshownBy(text) {
  if (text === null) return [];
  const specText = readFileSync('docs/spec.md', 'utf8');
  return unshownIds({ specText, reportText: text, strict: process.env.CI === 'true' });
}
