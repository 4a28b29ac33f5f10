/** Types of test-report.js, for its tests. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  /** One line for each group that did not run: how many tests, its name and the reason. */
  readonly skipped: readonly string[];
  /** Failures that no single test shows. */
  readonly problems: readonly string[];
}

export function countTests(input: {
  readonly reportText: string | null;
  readonly skipsText: string;
  readonly exitCode: number;
  readonly strict: boolean;
  readonly filtered: boolean;
}): TestCounts;
export function failedFiles(reportText: string): readonly string[];
export function mergeTries(
  firstText: string,
  secondText: string,
): {
  readonly reportText: string;
  readonly flaky: readonly { readonly file: string; readonly title: string; readonly reason: string }[];
};
export function slowestFiles(reportText: string): readonly string[];
