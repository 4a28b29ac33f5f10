/** Types of last-release.js, for the tests that start what it installs. */

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of the installed package; null when it is not there. */
export function installedLastRelease(env: Environment): string | null;

/** Why the last release cannot be started here, as a sentence; null when it can. */
export function lastReleaseMissing(env: Environment): string | null;

/** Installs it; resolves with a line that says how it went. */
export function installLastRelease(
  env: Environment,
): Promise<{ readonly ok: boolean; readonly line: string }>;
