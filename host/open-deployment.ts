/**
 * The deployment that a command works on, or the end of the command.
 * Owns which problems stop which command; must not start anything.
 */
import { CliError } from './cli-error.ts';
import type { DeploymentConfig, EngineKind } from './config/deployment-config.ts';
import { loadDeployment } from './config/load-deployment.ts';
import { printProblems } from './config/print-problems.ts';
import { EXIT } from './exit-code.ts';
import type { HostPort, Reader } from './host-port.ts';
import { printable } from './terminal-text.ts';
import type { Shell } from './shell.ts';

export interface DeploymentRequest {
  /** Value of `--config`. */
  readonly path: string | undefined;
  /** True for commands that start the proxy: its problems count. */
  readonly startsProxy: boolean;
  /** Value of `--engine`. */
  readonly engine?: EngineKind | undefined;
}

/** Prints what is wrong. @throws CliError when the command cannot go on */
export async function openDeployment(shell: Shell, request: DeploymentRequest): Promise<DeploymentConfig> {
  const { cwd, env } = shell;
  const { config, problems, file } = await loadDeployment({ path: request.path ?? null, cwd, env });
  const relevant = problems.filter((problem) => request.startsProxy || problem.area === 'deployment');
  shell.stderr.write(printable(printProblems(relevant, file)));
  if (config !== null && !relevant.some(({ severity }) => severity === 'error')) {
    return withEngine(config, request.engine);
  }
  throw new CliError('Cannot use the configuration: it has errors', {
    exitCode: EXIT.usage,
    remedy: 'correct them and look with "parley config check"',
  });
}

/** The deployment with the engine of `--engine`, when there is one. */
export function withEngine(config: DeploymentConfig, kind = config.engine.kind): DeploymentConfig {
  return { ...config, engine: { ...config.engine, kind } };
}

/** A reader of the runs so far; null when nothing ever ran here. The caller closes it. */
export async function openRuns(
  shell: Shell,
  path: string | undefined,
): Promise<{ readonly config: DeploymentConfig; readonly port: HostPort; readonly reader: Reader } | null> {
  const config = await openDeployment(shell, { path, startsProxy: false });
  const reader = await openStored(shell, config);
  return reader === null ? null : { config, port: await shell.hostPort(), reader };
}

/** The same for a deployment that was opened already. The host is loaded only where something may be stored. */
export async function openStored(shell: Shell, config: DeploymentConfig): Promise<Reader | null> {
  const { hasStore } = await import('./follow/config-store.ts');
  if (!hasStore(config)) return null;
  const port = await shell.hostPort();
  return await port.openReader(config);
}

/** The error of a command that was given an id of no run. */
export function noSuchRun(id: string): CliError {
  return new CliError(`Cannot find the run "${id}": there is no run of this id`, {
    remedy: 'list the runs with "parley status"; another deployment is named with --config',
  });
}
