/**
 * Where people reach the console, as the operator who starts the service says it.
 * Owns which addresses count: those of the web, because reports make links of them.
 */
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { HostOptions } from '../host-port.ts';

const CONSOLE = '/console';

/** An address that only this machine has becomes no link: a report is read elsewhere. */
export function withConsole(
  config: DeploymentConfig,
  { application }: Pick<HostOptions, 'application'>,
): DeploymentConfig {
  const url = application?.publicUrl ?? null;
  if (url === null || !URL.canParse(url)) return config;
  const { protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return config;
  return {
    ...config,
    deployment: { ...config.deployment, consoleUrl: `${url.replace(/\/+$/, '')}${CONSOLE}` },
  };
}
