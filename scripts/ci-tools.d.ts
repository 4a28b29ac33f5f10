/** Types of ci-tools.js, for the tests that use what it installs. */

import type { Environment, Installed } from './tool-cache.js';

/** Where actionlint is: on the path, or in the cache; null when it is neither. */
export function installedActionlint(env: Environment): string | null;

/** The module of gitlab-ci-local that Node runs; null when it is not installed. */
export function installedGitlabCiLocal(env: Environment): string | null;

/** Null when both are installed, else the sentence that says what is missing. */
export function ciToolsMissing(env: Environment): string | null;

/** Installs both; resolves with one line for each that says how it went. */
export function installCiTools(env: Environment): Promise<readonly Installed[]>;
