/**
 * Turns vitest's JSON report and the list of missing tools into counts and lines.
 * Pure: texts in, data out; scripts/test.js reads and prints.
 */

/** The files that are named as the slowest. */
const SLOWEST = 20;
/** A failure is reported in a line. */
const REASON_LENGTH_MAX = 300;
/** What the JSON reporter has of a test that ran into its time limit, in place of the limit. */
const UNSAID = 'Error: STACK_TRACE_ERROR';

/**
 * `skipped`: one line for each group that did not run, with its count, name and reason; `problems`: failures that no
 * single test shows.
 * @typedef {{ readonly passed: number, readonly failed: number, readonly skipped: readonly string[], readonly problems: readonly string[] }} TestCounts
 * @typedef {{ readonly file: string, readonly title: string, readonly reason: string }} Flaky
 */

/**
 * Counts tests. A file that failed before its tests were known counts as one failure, and so does a run that ended
 * badly for a reason no test shows. With `strict`, a test that did not run is a failure unless a name filter left it out
 * or its tool is optional.
 * @type {(input: { reportText: string | null, skipsText: string, exitCode: number, strict: boolean, filtered: boolean }) => TestCounts}
 */
export function countTests({ reportText, skipsText, exitCode, strict, filtered }) {
  if (reportText === null) {
    return { passed: 0, failed: 1, skipped: [], problems: [`vitest ended with ${exitCode} and no report`] };
  }
  const files = JSON.parse(reportText).testResults;
  const tests = files.flatMap((file) => file.assertionResults);
  const problems = [
    ...files.filter(isBroken).map((file) => `${file.name}: ${firstLine(file.message)}`),
    ...files.flatMap(failedIn),
  ];
  const left = skippedTests(skipsText, filtered ? [] : tests.filter(isSkipped));
  const notRun = strict ? left.filter(({ group }) => group?.isOptional !== true).length : 0;
  if (notRun > 0) problems.push(`CI=true: ${notRun} skipped`);
  const known =
    tests.filter((test) => test.status === 'failed').length + files.filter(isBroken).length + notRun;
  if (known === 0 && exitCode !== 0) problems.push(`vitest ended with exit code ${exitCode}`);
  return {
    passed: tests.filter((test) => test.status === 'passed').length,
    failed: known === 0 && exitCode !== 0 ? 1 : known,
    skipped: linesOf(left),
    problems,
  };
}

/** The files in which something failed, by their names. @type {(reportText: string) => readonly string[]} */
export function failedFiles(reportText) {
  return JSON.parse(reportText)
    .testResults.filter((file) => file.status === 'failed')
    .map((file) => file.name);
}

/**
 * A report in which every test that passed on its second try has passed, and what failed first, a line each:
 * `{ reportText, flaky: [{ file, title, reason }] }`. What failed on both tries stays failed, with the second reason.
 * @type {(firstText: string, secondText: string) => { readonly reportText: string, readonly flaky: readonly Flaky[] }}
 */
export function mergeTries(firstText, secondText) {
  const first = JSON.parse(firstText);
  const again = new Map(JSON.parse(secondText).testResults.map((file) => [file.name, file]));
  const flaky = [];
  const testResults = first.testResults.map((file) => {
    const second = again.get(file.name);
    if (second === undefined || file.status !== 'failed') return file;
    if (isBroken(file) && second.status !== 'failed')
      flaky.push({ file: file.name, title: 'the whole file', reason: firstLine(file.message) });
    return mergedFile(file, second, flaky);
  });
  return { reportText: JSON.stringify({ ...first, testResults }), flaky };
}

/** A title may stand twice in a file: the first of the one try goes with the first of the other. */
function mergedFile(file, second, flaky) {
  const waiting = [...file.assertionResults];
  const assertionResults = second.assertionResults.map((test) => {
    const at = waiting.findIndex((one) => one.fullName === test.fullName);
    const [before] = at < 0 ? [] : waiting.splice(at, 1);
    if (before?.status === 'passed') return before;
    if (before?.status === 'failed' && test.status === 'passed')
      flaky.push({ file: file.name, title: test.fullName, reason: firstLine(before.failureMessages?.[0]) });
    return test;
  });
  const isGood = !isBroken(second) && assertionResults.every(({ status }) => status !== 'failed');
  return { ...second, assertionResults, status: isGood ? 'passed' : 'failed' };
}

/**
 * One line for each of the slowest files, the slowest first, in seconds.
 * @type {(reportText: string) => readonly string[]}
 */
export function slowestFiles(reportText) {
  return JSON.parse(reportText)
    .testResults.map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1_000 }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${name}`);
}

/** A file that failed although none of its tests did: it could not be loaded, or a hook failed. */
function isBroken(file) {
  return file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed');
}

/** Each failed test with its file and the first line of what it said: these stand at the end of a log. */
function failedIn(file) {
  return file.assertionResults
    .filter((test) => test.status === 'failed')
    .map((test) => `${file.name} > ${test.fullName}: ${firstLine(test.failureMessages?.[0])}`);
}

function isSkipped(test) {
  return test.status === 'pending' || test.status === 'skipped' || test.status === 'todo';
}

/** Each test with the group of `describeWith` that it belongs to, which knows the missing tool. */
function skippedTests(skipsText, tests) {
  const groups = skipsText
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return tests.map((test) => ({ test, group: groups.find((one) => test.fullName.includes(one.name)) }));
}

/** Each group once, with its count and the reason; a test of none stands by itself. */
function linesOf(left) {
  const counts = new Map();
  for (const { test, group } of left) {
    const name = group?.name ?? test.fullName;
    const { count = 0 } = counts.get(name) ?? {};
    counts.set(name, { count: count + 1, reason: group?.reason ?? 'no reason given' });
  }
  return [...counts].map(([name, { count, reason }]) => `${count} of "${name}" (${reason})`).sort();
}

function firstLine(text) {
  const [line] = (text ?? '').split('\n');
  return line === UNSAID ? 'took longer than it may' : line.slice(0, REASON_LENGTH_MAX);
}
