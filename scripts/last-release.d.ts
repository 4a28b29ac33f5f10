/** Types of last-release.js, for the tests that start what it installs. */

import type { Environment, Installed } from './tool-cache.js';

/** The folder of the installed package; null when it is not there. */
export function installedLastRelease(env: Environment): string | null;

/** Why the last release cannot be started here, as a sentence; null when it can. */
export function lastReleaseMissing(env: Environment): string | null;

/** Installs it; resolves with a line that says how it went. */
export function installLastRelease(env: Environment): Promise<Installed>;
