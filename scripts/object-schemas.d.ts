/** Types of object-schemas.js, for the tests that use what it fetches. */

import type { Environment, Installed } from './tool-cache.js';

/** Folder with `kubernetes.json` and a definition for each custom kind; null when one of them is missing. */
export function installedObjectSchemas(env: Environment): string | null;

/** Fetches them; resolves with a line that says how it went. */
export function installObjectSchemas(env: Environment): Promise<Installed>;
