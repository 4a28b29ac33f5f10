/** Types of temporal-tools.js, for the tests that use what it installs. */

import type { Environment, Installed } from './tool-cache.js';

/** Where the test server is once it is installed; it takes a port as its argument. */
export function testServerProgram(env: Environment): string;

/** Null when it is installed, else the sentence that says what is missing. */
export function testServerMissing(env: Environment): string | null;

/** Installs both; resolves with one line for each that says how it went. */
export function installTemporalTools(env: Environment): Promise<readonly Installed[]>;
