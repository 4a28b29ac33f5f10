/**
 * The summary of a run on the page of its workflow run at GitHub Actions.
 * Owns when it is written, and the bound of what all commands of a step may write; must not fail a run.
 */
import { appendFileSync, statSync } from 'node:fs';
import type { RunRow } from '../../core/machine/projection.ts';
import type { Reader } from '../../host/host-port.ts';
import { reasonOf } from '../../host/job/job-file.ts';
import type { Shell } from '../../host/shell.ts';

/** GitHub drops the whole summary of a step that has more. */
const STEP_BYTES_MAX = 1024 * 1024;
const FILE_VARIABLE = 'GITHUB_STEP_SUMMARY';
const SWITCH_VARIABLE = 'PARLEY_STEP_SUMMARY';

/** Appends it where GitHub Actions asks for one and nobody has switched it off; null, or why it could not. */
export async function writeStepSummary(
  { env }: Pick<Shell, 'env'>,
  reader: Pick<Reader, 'draw'>,
  { runId }: RunRow,
): Promise<string | null> {
  const file = env[FILE_VARIABLE];
  const isWanted = env['GITHUB_ACTIONS'] === 'true' && env[SWITCH_VARIABLE] !== 'off';
  if (!isWanted || file === undefined || file === '' || reader.draw === undefined) return null;
  try {
    const text = `${await reader.draw(runId, 'github')}\n`;
    const before = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (before + Buffer.byteLength(text) > STEP_BYTES_MAX)
      return `Cannot add to the job summary: with what it has, it would be longer than ${STEP_BYTES_MAX} bytes`;
    appendFileSync(file, text);
    return null;
  } catch (error) {
    return `Cannot write the job summary: ${reasonOf(error)}`;
  }
}
