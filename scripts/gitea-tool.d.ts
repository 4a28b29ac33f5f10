/** Types of gitea-tool.js, for the tests that use what it installs. */

import type { Environment, Installed } from './tool-cache.js';

export interface InstalledGitea {
  readonly program: string;
  /** Folder of its templates and options, as `STATIC_ROOT_PATH` names it. */
  readonly staticRoot: string;
}

/** Null when it was not built. */
export function installedGitea(env: Environment): InstalledGitea | null;

/** Builds it where it is missing; resolves with a line that says how it went. */
export function installGitea(env: Environment): Promise<Installed>;
