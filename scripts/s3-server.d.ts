/** Types of s3-server.js, for the tests that use what it installs. */

import type { Environment, Installed } from './tool-cache.js';

/** The program; null when it is not installed. */
export function installedS3Server(env: Environment): string | null;

/** Installs it where it is missing; resolves with a line that says how it went. */
export function installS3Server(env: Environment): Promise<Installed>;
