/**
 * The real parts behind the ports, put together for one process.
 * Owns which implementation stands behind which port; must not decide anything else.
 */
import { createAgentClient, type AgentClient } from '../clients/agent/agent-client.ts';
import { createAgentRelay } from '../clients/agent/agent-relay.ts';
import { reportedEvents } from '../activities/reported-events.ts';
import type { World } from '../activities/world.ts';
import { createBranchDelivery } from '../clients/code-hosts/deliver-branch.ts';
import { apiOfHost, type GivenHostApi } from '../clients/code-hosts/api/api-of-host.ts';
import { createCodeHostApi } from '../clients/code-hosts/api/code-host-api.ts';
import {
  createCodeHosts,
  PUBLIC_CODE_HOSTS,
  type CodeHosts,
  type CodeHostTemplate,
} from '../clients/code-hosts/code-hosts.ts';
import type { SandboxId } from '../core/ids.ts';
import { systemClock } from '../engine/system-clock.ts';
import { createGatewayExport } from '../clients/gateway/gateway-export.ts';
import type { AgentRelay } from '../ports/agent-relay.ts';
import type { CodeHostApi } from '../ports/code-host-api.ts';
import type { HostLease, HostWay } from '../ports/host-leases.ts';
import type { Notifier } from '../ports/notifier.ts';
import type { WarmMeter } from '../ports/warm-meter.ts';
import { createKeyMinter } from '../store/spend/key-minter.ts';
import type { Store } from '../store/open-store.ts';
import { createWebhookSender } from '../clients/send-webhook.ts';
import { deriveKey, type SealKey } from '../store/access/seal-key.ts';
import type { DeploymentConfig } from './config/deployment-config.ts';
import type { DeployedFiles } from './deployed-files.ts';
import { isHostBound, warmPoolOfHost } from './sandboxes/hosted.ts';
import { lateWarmMeter, measuredPlacement, measuredWarmPool } from './sandboxes/measured-warm-pool.ts';
import { builtProgram, type Places } from './sandboxes/places.ts';
import { runtimeOf } from './sandboxes/runtime-of.ts';
import { createSecretSource } from './secret-source.ts';
import { settledSpend, type SettledSpend } from './proxy/settled-spend.ts';

export interface WorldParts {
  readonly config: DeploymentConfig;
  readonly places: Places;
  readonly store: Store;
  readonly files: DeployedFiles;
  readonly sealKey: SealKey;
  readonly notifier: Notifier;
  /** Of the host whose sandboxes this process reaches; absent: they are bound to none, or it reaches none. */
  readonly lease?: HostLease | null;
  /** Absent: nothing is counted. */
  readonly warmMeter?: WarmMeter;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly warn: (text: string) => void;
}

export interface WiredWorld {
  readonly world: World;
  readonly spend: SettledSpend;
  readonly agent: AgentClient;
  readonly relay: AgentRelay;
  readonly codeHosts: CodeHosts;
}

export function wireWorld(parts: WorldParts): WiredWorld {
  const { config, places, store, files, env, warmMeter = lateWarmMeter() } = parts;
  const hostKey = hostKeyOf(parts.sealKey);
  const agent = createAgentClient({ dialect: config.agent.kind, hostKey });
  const codeHosts = codeHostsOf(config);
  const vault = store.vault(parts.sealKey);
  const spend = settledSpend(store.spend);
  const world: World = {
    runtime: runtimeOf(parts),
    agent,
    ...(isHostBound(config) ? { otherHost: (id) => otherHost(parts, id) } : {}),
    clones: codeHosts,
    branches: createBranchDelivery({
      codeHosts,
      credentialOf: (provider) => config.codeHostTokens[provider] ?? null,
      scratchDir: places.branches,
    }),
    codeHostApi: codeHostApiOf(config),
    placement: measuredPlacement(store.placement, warmMeter),
    warmPool: measuredWarmPool(warmPoolOfHost(store.warmPool, parts.lease?.name), warmMeter),
    records: store.records,
    plans: store.plans,
    events: reportedEvents(store.events, store.troubles),
    lifecycle: store.lifecycle,
    activity: store.activity,
    workspaces: store.workspaces,
    archives: store.archives,
    spend,
    vault,
    blobs: files.blobs,
    results: files.results,
    gatewayExport: createGatewayExport(config.gatewayExport, builtProgram('export-reader.js')),
    secrets: createSecretSource(env, vault),
    keys: createKeyMinter(parts.sealKey),
    notifier: parts.notifier,
    webhooks: createWebhookSender(),
    deployment: config.deployment,
    clock: systemClock,
  };
  return { world, spend, agent, relay: createAgentRelay(hostKey), codeHosts };
}

/** By this key processes of one installation recognise each other (docs/security.md). */
export function hostKeyOf(sealKey: SealKey): Uint8Array {
  return deriveKey(sealKey, 'host-relay');
}

async function otherHost({ store, lease }: WorldParts, id: SandboxId): Promise<HostWay | null> {
  const way = await store.hosts.wayTo(id);
  return way?.host === lease?.name ? null : way;
}

/** The interfaces of the same hosts, with the same credentials. */
export function codeHostApiOf(config: DeploymentConfig): CodeHostApi {
  const hosts: Readonly<Record<string, CodeHostTemplate & { readonly api?: GivenHostApi | null }>> =
    templatesOf(config);
  return createCodeHostApi({
    codeHosts: codeHostsOf(config),
    apiOf: (provider) => {
      const host = hosts[provider];
      return host === undefined ? null : apiOfHost(provider, host.url, host.api ?? {});
    },
    credentialOf: (provider) => config.codeHostTokens[provider] ?? null,
    clock: systemClock,
  });
}

/** Those of the configuration, else the public ones (D19). */
export function codeHostsOf(config: DeploymentConfig): CodeHosts {
  return createCodeHosts({ hosts: templatesOf(config), baseDir: config.baseDir });
}

function templatesOf({ codeHosts }: DeploymentConfig): Readonly<Record<string, CodeHostTemplate>> {
  return Object.keys(codeHosts).length === 0 ? PUBLIC_CODE_HOSTS : codeHosts;
}
