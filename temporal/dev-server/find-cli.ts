/**
 * Where the Temporal CLI is on this machine: named by the environment, on the search path, or among Go's programs.
 * Owns the order of looking; must not start or fetch anything but what download-cli.ts fetches.
 */
import os from 'node:os';
import path from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { downloadCli } from './download-cli.ts';
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
