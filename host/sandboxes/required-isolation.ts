/**
 * Whether sandboxes may come down to plain processes where this machine cannot separate them.
 * Owns the answer: only before a user who sees the warning and can end the run; a service or a pipeline with `auto`
 * must not begin to run foreign code as its own user.
 */
import type { HostOptions } from '../host-port.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { isService } from '../follow/followed-file.ts';

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
}

/** The same configuration, in which `auto` is `namespaces` where no user would see the warning. */
export function withRequiredIsolation(
  config: DeploymentConfig,
  options: HostOptions,
  { env, isTerminal }: Surroundings,
): DeploymentConfig {
  const isSeen = !isService(options) && isTerminal && (env['CI'] ?? '') === '';
  return config.isolation === 'auto' && !isSeen ? { ...config, isolation: 'namespaces' } : config;
}
