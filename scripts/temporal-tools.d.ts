/** Types of temporal-tools.js, for the tests that use what it installs. */

type Environment = Readonly<Record<string, string | undefined>>;

/** The cache: programs that belong to no deployment. */
export function toolsFolder(env: Environment): string;

/** Where the test server is once it is installed; it takes a port as its argument. */
export function testServerProgram(env: Environment): string;

/** Null when it is installed, else the sentence that says what is missing. */
export function testServerMissing(env: Environment): string | null;

export interface Installed {
  readonly name: string;
  readonly ok: boolean;
  /** Where it is, how long it took, or why it could not be installed. */
  readonly line: string;
}

/** Fills a folder beside and renames it, so that what is there is whole. */
export function aside(
  name: string,
  folder: string,
  fill: (target: string) => Promise<void>,
): Promise<Installed>;

/** Installs both; resolves with one line for each that says how it went. */
export function installTemporalTools(env: Environment): Promise<readonly Installed[]>;
