/** Types of compose-tools.js, for the tests that use what it installs. */

import type { Environment, Installed } from './tool-cache.js';

export const COMPOSE_VERSION: string;
export const SERVER_VERSION: string;
export const UI_VERSION: string;

/** Folders in the cache, each with its programs. */
export interface ComposeTools {
  /** `docker-compose`, which Docker's command takes as a plug-in. */
  readonly compose: string;
  /** `temporal-server`, `temporal-sql-tool`, `config` and `schema`. */
  readonly server: string;
  /** `ui-server`. */
  readonly ui: string;
  /** Program, which a health check asks. */
  readonly cli: string;
}

/** Null when one of them is missing. */
export function installedComposeTools(env: Environment): ComposeTools | null;

/** Installs what is missing; resolves with a line for each that says how it went. */
export function installComposeTools(env: Environment): Promise<readonly Installed[]>;
