/**
 * The three sockets that lead out of a sandbox: proxy, callbacks, Git; and the proxy's loopback port.
 * Owns their start and end; keys of conversations decide which caller may use them.
 */
import { mkdirSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { World } from '../../activities/world.ts';
import { launchFacts } from '../../activities/launch-facts.ts';
import { repositoryScope } from '../../activities/redaction.ts';
import { startWebhookServer } from '../../api/webhook-server.ts';
import type { CodeHosts } from '../../clients/code-hosts/code-hosts.ts';
import { basicAuthorization } from '../../clients/code-hosts/credential.ts';
import { createGitRelay, type GitRelay } from '../../clients/code-hosts/git-relay.ts';
import { counted } from '../../core/text/counted.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { AuditLog } from '../../ports/audit-log.ts';
import type { KeyDirectory, ProxyCaller } from '../../ports/key-directory.ts';
import type { KeyMinter } from '../../ports/key-minter.ts';
import type { RecordStore } from '../../ports/record-store.ts';
import { callIds } from '../../proxy/spend/call-id.ts';
import { drainSpool } from '../../proxy/spend/orphan-spool.ts';
import { parseProxyConfig } from '../../proxy/config/config-reading.ts';
import type { PeerLife } from '../../proxy/peers/peer-life.ts';
import { createProxy, type Proxy } from '../../proxy/proxy.ts';
import type { SpendLoss } from '../../core/money/spend-loss.ts';
import { ensurePrivateDir } from '../../runtimes/on-host/private-dir.ts';
import type { Store } from '../../store/open-store.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { descriptorShares, descriptorsMax, type DescriptorShares } from '../sandboxes/descriptor-shares.ts';
import { openEgress } from '../sandboxes/egress.ts';
import type { Places } from '../sandboxes/places.ts';
import { proxyLog } from './peer-of.ts';
import { conversationKeyName, runBudgets } from './run-budgets.ts';

export interface Endpoints {
  /** Brings the spend of calls that have ended to the store. */
  flushSpend(): Promise<void>;
  /** Takes models and settings of the next call on; the caller has checked them. */
  readonly proxy: Pick<Proxy, 'reload' | 'reloadRefused'>;
  close(): Promise<void>;
}

export interface EndpointParts {
  readonly config: DeploymentConfig;
  readonly places: Places;
  readonly world: World;
  /** What the world has no use for: virtual keys, sums of spend and the log of runs. */
  readonly store: Pick<Store, 'proxyKeys' | 'accounts' | 'lifecycle' | 'proxyPeers' | 'leases'>;
  /** Null: it has its database alone. It begins and ends with the proxy. */
  readonly peer: PeerLife | null;
  /** Takes note of callers that were refused. */
  readonly audit: AuditLog;
  readonly codeHosts: CodeHosts;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly warn: (text: string) => void;
}

/** Whatever is said here may have its cause in a sandbox, so it is said seldom. */
interface BoundedParts extends EndpointParts {
  readonly shares: DescriptorShares;
}

export async function openEndpoints(parts: EndpointParts): Promise<Endpoints> {
  const { places, world } = parts;
  for (const socket of [places.proxySocket, places.webhookSocket, places.gitSocket]) {
    mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
  }
  const bounded: BoundedParts = {
    ...parts,
    shares: descriptorShares(descriptorsMax()),
    warn: toldSeldom(world.clock, parts.warn),
  };
  if (parts.peer !== null) await bringLeftovers(bounded);
  const proxy = proxyOf(bounded);
  const relay = relayOf(bounded);
  await proxy.listen({ socketPath: places.proxySocket });
  if (parts.config.proxyPort !== null)
    await proxy.listen({ host: '127.0.0.1', port: parts.config.proxyPort });
  await relay.listen();
  const webhooks = await startWebhookServer(world, places.webhookSocket, parts.audit, {
    connectionsMax: bounded.shares.webhook,
    onStrike: bounded.warn,
  });
  const egress = await openEgress({ ...bounded, connectionsMax: bounded.shares.egress });
  if (parts.config.runtimeKind !== 'kubernetes') {
    const ways = [places.proxySocket, places.webhookSocket, places.gitSocket];
    await openToContainers(egress === null ? ways : [...ways, places.egressSocket]);
  }
  return {
    flushSpend: () => proxy.flushSpend(),
    proxy,
    async close() {
      await Promise.all([webhooks.close(), relay.close(), proxy.close(), egress?.close()]);
    },
  };
}

/** @throws ParleyError config_invalid naming every problem of `proxy_config` */
function proxyOf({ config, places, world, store, peer, env, shares, warn }: BoundedParts): Proxy {
  const { vendor } = config.deployment;
  const { config: proxyConfig, problems } = parseProxyConfig(config.proxyConfigRaw, env, { vendor });
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    throw new ParleyError('config_invalid', errors.map(({ message }) => message).join('\n'));
  return createProxy({
    config: proxyConfig,
    keys: conversationKeys(world.keys, world.records),
    accounting: { keys: store.proxyKeys, accounts: store.accounts },
    budgets: runBudgets({
      records: world.records,
      plans: world.plans,
      accounts: store.accounts,
    }),
    ...(peer === null ? {} : { sharing: { life: peer, vault: world.vault } }),
    spend: world.spend,
    vendor,
    clock: world.clock,
    newId: callIds(() => world.clock.now()),
    spoolDir: places.spool,
    log: proxyLog(env),
    sandboxConnectionsMax: shares.proxy,
    onStrike: warn,
    onSpendLost: (lost) => warn(lostRowsText(lost)),
    env,
  });
}

/** Rows of the process before this one, which the others may have given up since: what they cost counts for its budgets. */
async function bringLeftovers({ places, world, store, warn }: BoundedParts): Promise<void> {
  const stores = { spend: world.spend, peers: store.proxyPeers, leases: store.leases, clock: world.clock };
  await drainSpool(places.spool, stores).catch((cause: unknown) => {
    // They stay where they are, and go with the first rows of this process.
    warn(`Cannot bring the rows of an earlier process to the store: ${String(cause)}`);
  });
}

/** What became of the rest of that time is unknown: states and events are kept nowhere else. */
function lostRowsText({ calls, from, to, mayBeMore }: SpendLoss): string {
  const [first, last] = [from, to].map((at) => new Date(at).toISOString());
  const more = mayBeMore ? '; older calls may be missing, too' : '';
  return `The store had lost ${counted(calls, 'call')} of ${first} to ${last}, and has them again${more}; what else was stored then is missing: docs/store.md, "Backups", says what to do`;
}

/** What a repository is to a conversation; null for nothing that it may read. */
type Standing = 'repository' | 'submodule' | 'plugin' | null;

async function standingOf(world: World, token: string | null, name: string): Promise<Standing> {
  const owner = token === null ? null : world.keys.proxyKeyOwner(token);
  const conversation = owner === null ? null : await world.records.conversation(owner.conversationId);
  if (owner === null || conversation === null) return null;
  const { selectedRepository: own } = conversation;
  if (own === name) return 'repository';
  const { plugins, repository } = await launchFacts(world.vault, owner.conversationId);
  if (plugins.some(({ source }) => source === name)) return 'plugin';
  const isOfOwner = own !== null && groupOf(own) === groupOf(name);
  return repository?.submodules === true && isOfOwner ? 'submodule' : null;
}

function groupOf(name: string): string {
  return name.slice(0, name.lastIndexOf('/'));
}

/**
 * A conversation may clone its own repository, submodules of the same owner where it has them fetched, and its plugins,
 * and no other; the credential of the host stays on this side (D19).
 */
function relayOf({ config, places, world, codeHosts, warn, shares }: BoundedParts): GitRelay {
  return createGitRelay({
    socketPath: places.gitSocket,
    codeHosts,
    allow: async (token, _provider, name) => (await standingOf(world, token, name)) !== null,
    authorization: async (provider, name, token) => {
      const owner = token === null ? null : world.keys.proxyKeyOwner(token);
      const standing = await standingOf(world, token, name);
      // The credential of a job is for the repository it works on, with its submodules; a plugin is read with the
      // deployment's.
      const own =
        owner === null || standing === null || standing === 'plugin'
          ? null
          : await world.vault.get(repositoryScope(owner.conversationId), 'token');
      const credential = own ?? config.codeHostTokens[provider] ?? null;
      return credential === null ? null : basicAuthorization(credential);
    },
    ownerOf: async (token) => {
      const owner = token === null ? null : world.keys.proxyKeyOwner(token);
      if (owner === null) return '';
      return (await world.records.conversation(owner.conversationId))?.sandboxId ?? owner.conversationId;
    },
    connectionsMax: shares.git,
    warn,
  });
}

/** The callers of the proxy inside sandboxes: the holders of virtual keys made for conversations. */
function conversationKeys(keys: KeyMinter, records: RecordStore): KeyDirectory {
  return { find: (key) => findCaller(keys, records, key) };
}

async function findCaller(keys: KeyMinter, records: RecordStore, key: string): Promise<ProxyCaller | null> {
  const owner = keys.proxyKeyOwner(key);
  if (owner === null) return null;
  const conversation = await records.conversation(owner.conversationId);
  if (conversation?.sandboxId == null) return null;
  const sandbox = await records.sandbox(conversation.sandboxId);
  if (sandbox === null || sandbox.generation !== owner.generation) return null;
  if (sandbox.status === 'ERROR' || sandbox.status === 'MISSING') return null;
  return {
    name: conversationKeyName(owner.conversationId),
    sessionId: owner.conversationId,
    userId: conversation.userId,
    models: conversation.model === null ? null : [conversation.model],
  };
}

/** Every user passes through, and only the owner lists it. */
const PASSABLE = 0o711;
const CONNECTABLE = 0o666;

/** @throws ParleyError runtime_failed: the directory above belongs to another user */
export async function openToContainers(sockets: readonly string[]): Promise<void> {
  for (const socket of sockets) {
    await ensurePrivateDir(dirname(dirname(socket)));
    await chmod(dirname(socket), PASSABLE);
    await chmod(socket, CONNECTABLE);
  }
}

/**
 * What is said because of something in a sandbox, said so seldom that no sandbox can fill a screen, a log or the memory
 * with it (D31).
 * Owns how often: a text once in ten minutes, and of all texts a few a minute; what was left out is counted and said.
 */

/** The same text again within this is nothing new. */
const REPEAT_MS = 10 * 60_000;
/** Different texts, which a sandbox makes up at will: a first burst, then as many as a person reads. */
const BURST = 20;
const REFILL_MS = 6_000;
/** Texts remembered, so that a repeat is known. */
const REMEMBERED_MAX = 256;

export function toldSeldom(clock: { now(): number }, tell: (text: string) => void): (text: string) => void {
  // Insertion order is order of time.
  const told = new Map<string, number>();
  let [tokens, refilledAt, leftOut] = [BURST, clock.now(), 0];
  return (text) => {
    const now = clock.now();
    const refilled = Math.floor(Math.max(0, now - refilledAt) / REFILL_MS);
    if (refilled > 0 || now < refilledAt) {
      tokens = Math.min(BURST, tokens + refilled);
      refilledAt = now;
    }
    const last = told.get(text);
    if (last !== undefined && now >= last && now - last < REPEAT_MS) return;
    if (tokens === 0) {
      leftOut += 1;
      return;
    }
    tokens -= 1;
    told.delete(text);
    told.set(text, now);
    const [oldest] = told.keys();
    if (oldest !== undefined && told.size > REMEMBERED_MAX) told.delete(oldest);
    tell(leftOut === 0 ? text : `${text} (${leftOut} other notices were left out)`);
    leftOut = 0;
  };
}
