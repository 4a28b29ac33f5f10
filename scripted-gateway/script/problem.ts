// What is wrong in a script, and where: the shape every check returns and the one way it is printed.
// It must not read files or decide what counts as a problem.

/** A place in a text file; both numbers start at 1. */
export interface Position {
  readonly line: number;
  readonly col: number;
}

/** One mistake of the script's author. Collected, never thrown. */
export interface Problem extends Position {
  readonly file: string;
  readonly message: string;
}

/** One line a terminal or an editor can jump to: `file:line:col: message`. */
export function formatProblem(problem: Problem): string {
  return `${problem.file}:${problem.line}:${problem.col}: ${problem.message}`;
}

/** Reading order: by line, then column; problems at one place keep the order in which they were found. */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((a, b) => a.line - b.line || a.col - b.col);
}

/** Quotes words for a message: `"a", "b"`. */
export function quoteAll(words: Iterable<string>): string {
  return [...words].map((word) => `"${word}"`).join(', ');
}
