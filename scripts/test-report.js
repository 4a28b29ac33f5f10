/**
 * Turns vitest's JSON report and the list of missing tools into counts and lines.
 * Pure: texts in, data out; scripts/test.js reads and prints.
 */

/**
 * Counts tests. A file that failed before its tests were known counts as one failure, and so does a run that ended
 * badly for a reason no test shows. With `strict`, a test that did not run is a failure unless a name filter left it out
 * or its tool is optional.
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
  const skipped = linesOf(left);
  const notRun = strict ? linesOf(left.filter(({ group }) => group?.isOptional !== true)).length : 0;
  if (notRun > 0) problems.push(`CI=true: ${notRun} skipped`);
  const known =
    tests.filter((test) => test.status === 'failed').length + files.filter(isBroken).length + notRun;
  if (known === 0 && exitCode !== 0) problems.push(`vitest ended with exit code ${exitCode}`);
  return {
    passed: tests.filter((test) => test.status === 'passed').length,
    failed: known === 0 && exitCode !== 0 ? 1 : known,
    skipped,
    problems,
  };
}

/** A file that failed although none of its tests did: it could not be loaded, or a hook failed. */
function isBroken(file) {
  return file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed');
}

/** Each failed test with its file and the first line of what it said: whoever has only the end of a log reads these. */
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

/** Each test once, by its full name, with the reason. */
function linesOf(left) {
  const lines = left.map(({ test, group }) => `${test.fullName} (${group?.reason ?? 'no reason given'})`);
  return [...new Set(lines)].sort();
}

function firstLine(text) {
  return (text ?? '').split('\n')[0];
}
