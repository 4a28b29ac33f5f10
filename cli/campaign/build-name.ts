/**
 * Which code is running: the commit of the checkout, or the version of the build.
 * Owns the one question to Git; without Git or a checkout the version is the answer.
 */
import { execFileSync } from 'node:child_process';
import type { Shell } from '../../host/shell.ts';

/** A repository that does not answer at once is not waited for. */
const GIT_MS = 2_000;

/** As in "commit 1a2b3c4", with "-dirty" behind it when files were changed; or "version 0.1.0". */
export function buildName({ programDir, version }: Shell): string {
  try {
    const name = execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], {
      cwd: programDir,
      encoding: 'utf8',
      timeout: GIT_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    return name === '' ? `version ${version}` : `commit ${name}`;
  } catch {
    return `version ${version}`;
  }
}
