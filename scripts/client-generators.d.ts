/** Types of client-generators.js, for the tests that use what it installs. */

import type { Environment, Installed } from './tool-cache.js';

/** Where the packages of npm are: the folder of an installation, its modules, and the generator's program. */
export function typescriptGenerator(env: Environment): {
  readonly folder: string;
  readonly modules: string;
  readonly program: string;
};

/** Where the jar of the other is, and the module that its Go is compiled in. */
export function javaGenerator(env: Environment): {
  readonly folder: string;
  readonly jar: string;
  readonly goModule: string;
};

/** Null when both are installed and can run, else the sentence that says what is missing. */
export function clientGeneratorsMissing(env: Environment): string | null;

/** Installs both; resolves with one line for each that says how it went. */
export function installClientGenerators(env: Environment): Promise<readonly Installed[]>;
