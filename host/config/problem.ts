/**
 * A finding in the deployment's configuration: data, never an exception.
 * Owns its shape and its one printed form; must not decide whether a command goes on.
 */

export interface Problem {
  readonly severity: 'error' | 'warning';
  /** `proxy` problems matter only to commands that start the proxy. */
  readonly area: 'deployment' | 'proxy';
  /** The file as it is shown, or `environment NAME`. */
  readonly file: string;
  /** Count from 1; null for what stands in no file. */
  readonly line: number | null;
  readonly column: number | null;
  /** No final period; never the value of a key or token (D20). */
  readonly message: string;
  /** What to write or do instead; null when the message says it all. */
  readonly remedy: string | null;
}

/** `excerpt` is the line it stands in, drawn. */
export function printProblem(problem: Problem, excerpt: readonly string[] = []): string {
  const { file, line, column, severity, message, remedy } = problem;
  const place = line === null ? file : `${file}:${line}:${column ?? 1}`;
  const lines = [
    `${place}: ${severity}: ${message}`,
    ...excerpt,
    ...(remedy === null ? [] : [`      = ${remedy}`]),
  ];
  return lines.map((text) => `${text}\n`).join('');
}
