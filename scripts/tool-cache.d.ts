/** Types of tool-cache.js, for the installers and the tests that use what they install. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** How an installation went. */
export interface Installed {
  readonly name: string;
  readonly ok: boolean;
  /** Where it is, how long it took, or why it could not be installed. */
  readonly line: string;
}

/** The cache: programs that belong to no deployment. */
export function toolsFolder(env: Environment): string;
