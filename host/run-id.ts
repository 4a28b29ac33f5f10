/**
 * Ids of runs: readable, unique, and safe as a folder and a tag.
 * Owns how one is made and which text is one; instant and randomness are handed in.
 */
import { runId, type RunId } from '../core/ids.ts';
import { CliError } from './cli-error.ts';

const RUN_ID = /^[a-z0-9][a-z0-9-]{0,63}$/;
/** What the instant and the random digits leave of the 64 characters. */
const NAME_LENGTH_MAX = 42;

/** `first-batch-20261121t043105-9f3c` */
export function newRunId(
  name: string,
  { now, random }: { readonly now: number; readonly random: string },
): RunId {
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').toLowerCase();
  return runId(`${name.slice(0, NAME_LENGTH_MAX).replace(/-+$/, '')}-${stamp}-${random}`);
}

/** @throws CliError when the text cannot be the id of a run */
export function parseRunId(text: string): RunId {
  if (RUN_ID.test(text)) return runId(text);
  throw new CliError(
    `Cannot use the run id "${text}": it is not 1 to 64 lower-case letters, digits and hyphens`,
    {
      remedy: 'list the runs with "parley status"',
    },
  );
}
