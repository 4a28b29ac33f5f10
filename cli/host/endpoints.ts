/**
 * The three sockets that lead out of a sandbox: proxy, callbacks, Git; and the proxy's loopback port.
 * Owns their start and end; who may use them is decided by keys of conversations.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import pino from 'pino';
import type { World } from '../../activities/world.ts';
import { repositoryScope } from '../../activities/redaction.ts';
import { startWebhookServer } from '../../api/webhook-server.ts';
import type { CodeHosts } from '../../code-hosts/code-hosts.ts';
import { createGitRelay, type GitRelay } from '../../code-hosts/git-relay.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { parseProxyConfig } from '../../proxy/config-reading.ts';
import { createProxy, type Proxy } from '../../proxy/proxy.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { conversationKeys } from './conversation-keys.ts';
import { openEgress } from './egress.ts';
import type { Places } from './places.ts';

export interface Endpoints {
  /** Brings the spend of calls that have ended to the store. */
  flushSpend(): Promise<void>;
  close(): Promise<void>;
}

export interface EndpointParts {
  readonly config: DeploymentConfig;
  readonly places: Places;
  readonly world: World;
  readonly codeHosts: CodeHosts;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly warn: (text: string) => void;
}

export async function openEndpoints(parts: EndpointParts): Promise<Endpoints> {
  const { places, world } = parts;
  for (const socket of [places.proxySocket, places.webhookSocket, places.gitSocket]) {
    mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
  }
  const proxy = proxyOf(parts);
  const relay = relayOf(parts);
  await proxy.listen({ socketPath: places.proxySocket });
  if (parts.config.proxyPort !== null)
    await proxy.listen({ host: '127.0.0.1', port: parts.config.proxyPort });
  await relay.listen();
  const webhooks = await startWebhookServer(world, places.webhookSocket);
  const egress = await openEgress(parts);
  return {
    flushSpend: () => proxy.flushSpend(),
    async close() {
      await Promise.all([webhooks.close(), relay.close(), proxy.close(), egress?.close()]);
    },
  };
}

/** @throws ParleyError config_invalid naming every problem of `proxy_config` */
function proxyOf({ config, places, world, env }: EndpointParts): Proxy {
  const { vendor } = config.deployment;
  const { config: proxyConfig, problems } = parseProxyConfig(config.proxyConfigRaw, env, { vendor });
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    throw new ParleyError('config_invalid', errors.map(({ message }) => message).join('\n'));
  return createProxy({
    config: proxyConfig,
    keys: conversationKeys(world.keys, world.records),
    spend: world.spend,
    vendor,
    clock: world.clock,
    newId: randomUUID,
    spoolDir: places.spool,
    log: pino({ level: env['PARLEY_LOG_LEVEL'] ?? 'silent' }, pino.destination(2)),
    env,
  });
}

/** A conversation may clone its own repository and no other; the credential of the host stays on this side (D19). */
function relayOf({ config, places, world, codeHosts, warn }: EndpointParts): GitRelay {
  return createGitRelay({
    socketPath: places.gitSocket,
    codeHosts,
    allow: async (token, _provider, name) => {
      const owner = token === null ? null : world.keys.proxyKeyOwner(token);
      if (owner === null) return false;
      const conversation = await world.records.conversation(owner.conversationId);
      return conversation?.selectedRepository === name;
    },
    authorization: async (provider, _name, token) => {
      const owner = token === null ? null : world.keys.proxyKeyOwner(token);
      const own =
        owner === null ? null : await world.vault.get(repositoryScope(owner.conversationId), 'token');
      const credential = own ?? config.codeHostTokens[provider] ?? null;
      return credential === null
        ? null
        : `Basic ${Buffer.from(`x-access-token:${credential}`).toString('base64')}`;
    },
    warn,
  });
}
