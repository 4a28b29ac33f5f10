/** Types of helm-tool.js, for the tests that use what it installs. */

import type { Environment, Installed } from './tool-cache.js';

/** Where Helm is: on the path, or in the cache; null when it is neither. */
export function installedHelm(env: Environment): string | null;

/** Installs it; resolves with a line that says how it went. */
export function installHelm(env: Environment): Promise<Installed>;
