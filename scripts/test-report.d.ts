/** Types of test-report.js, for its tests. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  /** One line per test that did not run: full name and reason. */
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
