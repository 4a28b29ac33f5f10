/**
 * The look ahead of a run with real parts: gateways, repositories, secrets, folders and ports at once.
 * Owns what stands behind each check; starts no engine, takes no lock, and leaves nothing behind.
 */
import { asParleyError } from '../../core/parley-error.ts';
import { describePin, hostPin } from '../../core/placement/choose-host.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { parseProxyConfig } from '../../proxy/config/config-reading.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { failed, type Finding } from '../finding.ts';
import type { HostPort } from '../host-port.ts';
import { isHostBound } from '../sandboxes/hosted.ts';
import { gatewayDesk } from './ask-gateway.ts';
import { checkAgents } from './check-agents.ts';
import { checkModels } from './check-models.ts';
import { checkPlaces } from './check-places.ts';
import { checkRepositories } from './check-repositories.ts';
import { checkSecrets, type ResolveSecret } from './check-secrets.ts';
import { createProbes, type Probes } from './probe-all.ts';
import { openRefReader } from './ref-reader.ts';
import { openSecretLook } from '../secret-look.ts';
import { codeHostsOf } from '../wired-world.ts';

export const preflight: HostPort['preflight'] = async (config, plan) => {
  const probes = createProbes();
  const secrets = openSecretLook(config, process.env);
  const { env } = process;
  const { config: proxy } = parseProxyConfig(config.proxyConfigRaw, env, {
    vendor: config.deployment.vendor,
  });
  try {
    const found = await Promise.all([
      checkPlaces(config),
      checkAgents(plan, config),
      checkHosts(plan, config),
      checkModels({ plan, config: proxy, desk: gatewayDesk, probes }),
      repositories({ config, plan, probes, resolve: secrets.resolve }),
      checkSecrets(plan, secrets.resolve),
    ]);
    return found.flat();
  } finally {
    await secrets.close();
  }
};

async function repositories(parts: {
  readonly config: DeploymentConfig;
  readonly plan: Plan;
  readonly probes: Probes;
  readonly resolve: ResolveSecret;
}): Promise<readonly Finding[]> {
  const { config, plan, probes, resolve } = parts;
  const isAny = plan.items.some(({ repository, plugins = [] }) => repository !== null || plugins.length > 0);
  if (!isAny) return [];
  const codeHosts = codeHostsOf(config);
  try {
    const reader = await openRefReader({
      codeHosts,
      async credentialOf({ provider, tokenSecret }) {
        const reference = tokenSecret === null ? undefined : plan.secrets[tokenSecret];
        // One that cannot be opened is a finding of its own.
        const own = reference === undefined ? null : await resolve(reference).catch(() => null);
        return own ?? config.codeHostTokens[provider] ?? null;
      },
    });
    try {
      return await checkRepositories({ plan, codeHosts, reader, probes });
    } finally {
      await reader.close();
    }
  } catch (error) {
    const { message } = asParleyError(error);
    return [failed('repositories', message, 'let TMPDIR name a folder that can be written')];
  }
}

type Config = Pick<DeploymentConfig, 'engine' | 'store' | 'runtimeKind'>;

/** Whether a job that names a host, or labels of one, can have it here. */
export function checkHosts({ placement }: Pick<Plan, 'placement'>, config: Config): readonly Finding[] {
  const pin = hostPin(placement);
  if (pin === undefined || isHostBound(config)) return [];
  const why =
    config.runtimeKind === 'kubernetes'
      ? 'pods are bound to no host of Parley'
      : 'only workers on Temporal over one PostgreSQL are hosts';
  const remedy = 'remove placement.host and placement.labels; docs/hosts.md says what hosts take';
  return [failed('host', `the job wants ${describePin(pin)}, but ${why}`, remedy)];
}
