/**
 * Where the Temporal CLI is on this machine: named by the environment, on the search path, or among Go's programs.
 * Owns the order of looking; must not start or fetch anything but the CLI itself.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { isProgram, type Environment } from './program.ts';

const PROGRAM = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

/**
 * The path of the CLI. When none is installed, it is fetched once into the cache, as the SDK does for its tests.
 * @throws ParleyError engine_misconfigured when there is none, or PARLEY_TEMPORAL_CLI names none
 */
export async function findCli(env: Environment): Promise<string> {
  return installedCli(env) ?? (await downloadCli(env));
}

/** Null when none is installed. @throws ParleyError engine_misconfigured when PARLEY_TEMPORAL_CLI names none */
export function installedCli(env: Environment): string | null {
  const named = value(env, 'PARLEY_TEMPORAL_CLI');
  if (named !== null) {
    if (isProgram(named)) return named;
    throw new ParleyError(
      'engine_misconfigured',
      `Cannot start a Temporal server: PARLEY_TEMPORAL_CLI names "${named}", which is no program`,
      { remedy: 'name the file of the Temporal CLI, or unset the variable' },
    );
  }
  return candidates(env).find(isProgram) ?? null;
}

function candidates(env: Environment): readonly string[] {
  const onPath = (value(env, 'PATH') ?? '').split(path.delimiter).filter((folder) => folder !== '');
  const home = value(env, 'HOME') ?? os.homedir();
  const go = [
    value(env, 'GOBIN'),
    ...(value(env, 'GOPATH') ?? '').split(path.delimiter).map((root) => (root === '' ? null : `${root}/bin`)),
    path.join(home, 'go', 'bin'),
  ].filter((folder) => folder !== null);
  return [...onPath, ...go].map((folder) => path.join(folder, PROGRAM));
}

/** A variable that is empty counts as not set. */
function value(env: Environment, name: string): string | null {
  const text = env[name] ?? '';
  return text === '' ? null : text;
}

/** What was fetched stays: a newer SDK fetches under another name. */
const KEPT = '3650 days';

/** @throws ParleyError engine_misconfigured when it cannot be fetched */
async function downloadCli(env: Environment): Promise<string> {
  const fetched = cachedCli(env);
  if (fetched !== null) return fetched;
  const folder = cacheFolder(env);
  try {
    mkdirSync(folder, { recursive: true });
    // Loaded here: it brings the native library, and is needed once.
    const { TestWorkflowEnvironment } = await import('@temporalio/testing');
    // The SDK fetches only by starting: this server is stopped at once, because ours takes other flags.
    const executable = { type: 'cached-download', downloadDir: folder, ttl: KEPT } as const;
    const started = await TestWorkflowEnvironment.createLocal({ server: { executable } });
    await started.teardown();
  } catch (cause) {
    throw noCli(cause);
  }
  const program = programIn(folder);
  if (program === null) throw noCli(new Error('nothing was written'));
  return program;
}

/** What an earlier start fetched, or scripts/temporal-tools.js built; null when there is none. */
export function cachedCli(env: Environment): string | null {
  return programIn(cacheFolder(env));
}

/** Programs that Parley keeps for itself, outside any deployment. */
function cacheFolder(env: Environment): string {
  const named = env['PARLEY_TOOLS_DIR'] ?? '';
  const tools = named === '' ? path.join(env['HOME'] ?? os.homedir(), '.cache', 'parley-tools') : named;
  return path.join(tools, 'temporal-cli');
}

/** The newest name; what is still being fetched cannot be run yet. */
function programIn(folder: string): string | null {
  try {
    const files = readdirSync(folder).sort().reverse();
    return files.map((file) => path.join(folder, file)).find(isProgram) ?? null;
  } catch {
    return null;
  }
}

function noCli(cause: unknown): ParleyError {
  const message =
    'Cannot start a Temporal server: the Temporal CLI is not installed and could not be fetched';
  return new ParleyError('engine_misconfigured', message, {
    cause,
    remedy:
      'install the program "temporal" (docs/cli.md says how) and put it on the search path, or name it in PARLEY_TEMPORAL_CLI',
  });
}
