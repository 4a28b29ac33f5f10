/**
 * A reporter for vitest that prints why a test failed as soon as it has, for a run that is cut off before its summary.
 * Owns that text; what passed is for the other reporters.
 */

/** Lines of one reason: what a comparison of large values prints is in the summary. */
const LINES_MAX = 60;

export default class FailureReporter {
  onTestCaseResult(test) {
    const { state, errors } = test.result();
    if (state === 'failed') print(`${test.module.relativeModuleId} > ${test.fullName}`, errors);
  }

  /** What failed outside of a test: in a hook of a suite, or while a file was loaded. */
  onTestSuiteResult(suite) {
    print(`${suite.module.relativeModuleId} > ${suite.fullName}`, suite.errors());
  }

  onTestModuleEnd(module) {
    print(module.relativeModuleId, module.errors());
  }
}

function print(title, errors) {
  for (const { message, diff, stack, stacks } of errors) {
    const place = stacks?.[0] === undefined ? (stack ?? '') : `at ${stacks[0].file}:${stacks[0].line}`;
    const lines = [message, diff ?? '', place].join('\n').split('\n');
    process.stdout.write(`failed: ${title}\n${lines.slice(0, LINES_MAX).join('\n')}\n`);
  }
}
