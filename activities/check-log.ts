/**
 * What the job's check printed, as it is kept beside the results of an item.
 * Owns the file's name and form: the first line says how it ended, the rest is its output with secrets removed (D20).
 */
import type { RunId } from '../core/ids.ts';
import type { World } from './world.ts';

/** Name of the file that keeps what the job's check printed. */
export const CHECK_LOG = 'verify.log';
/** First line of the log of a check that passed. */
const PASSED = 'exit code 0\n';
/** Why it failed stands at the end of what a program prints. */
const LINES_MAX = 20;
const LINE_CHARS_MAX = 300;

interface ItemOfRun {
  readonly runId: RunId;
  readonly key: string;
}

/** The text of the log of a check that ended. */
export function checkLog(exitCode: number, output: string): string {
  return `exit code ${exitCode}\n${output}`;
}

/** Whether the last check of an item passed, as its log says; false when there is none. */
export async function hasPassed(world: Pick<World, 'results'>, { runId, key }: ItemOfRun): Promise<boolean> {
  const log = await world.results.read({ runId, key, name: CHECK_LOG });
  return log !== null && new TextDecoder().decode(log.subarray(0, PASSED.length)) === PASSED;
}

/** The last lines of a log that say something, without how it ended. */
export function lastLines(log: string): readonly string[] {
  const lines = log.split(/\r?\n/).slice(1);
  while (lines.at(-1)?.trim() === '') lines.pop();
  const last = lines.slice(-LINES_MAX);
  return last.map((line) => (line.length > LINE_CHARS_MAX ? `${line.slice(0, LINE_CHARS_MAX)}…` : line));
}
