/**
 * The application API of a host: its parts put together, what a dead process left taken up, and the listening.
 * Owns the order; a key is made only when there is none and only this machine can call (D5).
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LOCAL_USER } from '../../activities/start-conversation.ts';
import type { World } from '../../activities/world.ts';
import type { Application, Principal } from '../../api/application/application.ts';
import { dialectOf } from '../../api/application/dialect.ts';
import { extendApplication } from '../../api/application/extend.ts';
import { APPLICATION_ROUTES } from '../../api/application/routes.ts';
import { startApplicationServer, type ApplicationServer } from '../../api/application/server.ts';
import { registerConsole } from '../../api/console/console-files.ts';
import { takeUpStarts } from '../../api/conversations/start-delivery.ts';
import type { JobSimulator } from '../../api/jobs/job-simulator.ts';
import { cachedKeys } from '../../api/keys/cached-keys.ts';
import { issueKey } from '../../api/keys/issue-key.ts';
import { hashOfKey } from '../../api/application/authentication.ts';
import { openAgentPorts, type AgentPorts } from '../../api/relay/agent-ports.ts';
import { takeUpSandboxes } from '../../api/sandboxes/sandbox-commands.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { AgentRelay } from '../../ports/agent-relay.ts';
import type { ApiKeyStore } from '../../ports/api-keys.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { Store } from '../../store/open-store.ts';
import { hashPlan } from '../../dsl/plan/plan-text.ts';
import type { Environment } from '../config/effective-values.ts';
import type { ConfigurationOwner } from '../follow/configuration-owner.ts';
import type { FollowedConfiguration } from '../follow/followed-configuration.ts';
import type { FollowedVersion } from '../follow/followed-version.ts';
import type { Closers } from '../closers.ts';
import type { ApplicationFacts, ApplicationOptions, HostOptions } from '../host-port.ts';
import { builtProgram } from '../sandboxes/places.ts';
import { programVersion } from '../program-version.ts';
import { SHA256 } from '../job/job-file.ts';
import { listedModels } from '../job/listed-models.ts';
import { openConfigurationDesk } from './configuration-desk.ts';
import { openSharedDesk } from './shared-desk.ts';
import { FIRST_KEY } from './first-key.ts';
import { createJobCompiler } from './job-compiler.ts';
import { isLoopback, listening } from '../listening.ts';

/** Beside the built programs. */
const CONSOLE_FOLDER = 'web';

export interface ServedParts {
  readonly followed: FollowedConfiguration;
  /** The process that carries things out; null when it is this one. */
  readonly configurationOwner: ConfigurationOwner | null;
  /** Null: the file is the configuration. */
  readonly version: FollowedVersion | null;
  readonly store: Store;
  readonly world: World;
  readonly requests: Notifier;
  /** True when no other process can serve from this store; on Temporal several may. */
  readonly isAlone: boolean;
  readonly closers: Closers;
  readonly env: Environment;
  readonly relay: AgentRelay;
  /** Null: nothing is played. */
  readonly simulator: JobSimulator | null;
}

export type ServedOptions = ApplicationOptions & Pick<HostOptions, 'onNotice'>;

export interface OpenedApplication {
  readonly application: Application;
  readonly facts: ApplicationFacts;
}

/** @throws CliError when the address cannot be listened on; ParleyError unauthorized when no client could call */
export async function openApplication(
  options: ServedOptions,
  parts: ServedParts,
): Promise<OpenedApplication> {
  const firstKey = await firstKeyOf(options, parts);
  const listening: Listening = {
    url: options.publicUrl ?? `http://${options.host}:${options.port}`,
    agents: null,
  };
  const application = createApplication(parts, { listening, ...options });
  await takeUp(application, parts);
  const server = await listen(application, options);
  parts.closers.add(() => server.close());
  if (options.publicUrl === null) listening.url = server.url;
  if (options.publicUrl === null && options.dialect === 'openhands') {
    // Clients of that dialect take an address without a path only; behind another server there is one port.
    const ports = await openAgentPorts(server.http, options.host);
    parts.closers.add(() => ports.close());
    listening.agents = ports;
  }
  return { application, facts: { url: listening.url, firstKey } };
}

/** Without an address: for `openLocalApi`. */
export async function takenUpApplication(
  parts: ServedParts,
): Promise<Pick<OpenedApplication, 'application'>> {
  const listening: Listening = { url: 'http://localhost', agents: null };
  const application = createApplication(parts, { listening, dialect: 'spec', version: programVersion() });
  await takeUp(application, parts);
  return { application };
}

/** A process that may open the file of the socket is the owner of the data directory. */
const OWNER: Principal = {
  kind: 'key',
  userId: LOCAL_USER,
  // No issued key has this number.
  keyId: 0,
  keyName: 'local socket',
  scope: 'admin',
};

/** For other programs of the owner. What is opened is left to `closers`. */
export async function openLocalApi(
  application: Application,
  { socketPath, closers }: { readonly socketPath: string; readonly closers: Closers },
): Promise<void> {
  await mkdir(path.dirname(socketPath), { recursive: true, mode: 0o700 });
  await rm(socketPath, { force: true });
  const server = await startApplicationServer(application, {
    at: { path: socketPath, owner: OWNER },
    routes: APPLICATION_ROUTES,
    log: () => undefined,
    extend: extendApplication(application),
  });
  closers.add(() => server.close());
  await chmod(socketPath, 0o600);
}

interface Listening {
  url: string;
  agents: AgentPorts | null;
}

interface CreatedFor extends Pick<ApplicationOptions, 'dialect' | 'version'> {
  readonly listening: Listening;
}

function createApplication(
  {
    store,
    world,
    requests,
    isAlone,
    followed,
    configurationOwner,
    version: shared,
    env,
    simulator,
    relay,
  }: ServedParts,
  { listening, dialect, version }: CreatedFor,
): Application {
  const { search, startTasks, idempotencyKeys, documents, audit, eventSearch, eventWakes } = store;
  const { overview, proxyKeys, accounts } = store;
  return {
    apiKeys: cachedKeys(store.apiKeys, world.clock),
    ...{ search, startTasks, idempotencyKeys, documents, audit, eventSearch, eventWakes, world, requests },
    ...{ overview, proxyKeys, accounts },
    rateMeter: isAlone ? null : store.rateMeter,
    runLog: store.lifecycle,
    troubles: store.troubles,
    configuration:
      shared === null
        ? openConfigurationDesk({ followed, owner: configurationOwner })
        : openSharedDesk({ followed, version: shared, peers: store.proxyPeers }),
    relay,
    dialect: dialectOf(dialect),
    get models() {
      return followed.proxy.models.map(({ modelName }) => modelName);
    },
    publicUrl: () => listening.url,
    agentAddress: (sandboxId, path) => listening.agents?.urlOf(sandboxId, path) ?? null,
    jobs: createJobCompiler({
      models: () => followed.proxy.models.map(({ modelName }) => modelName),
      hasPrice: (model) =>
        listedModels({ cwd: path.dirname(followed.file), env }, followed.file).hasPrice(model),
      deployment: world.deployment,
    }),
    simulator,
    planHash: ({ hash: _hash, ...plan }) => hashPlan(plan, SHA256),
    randomHex: (digits) =>
      randomBytes(Math.ceil(digits / 2))
        .toString('hex')
        .slice(0, digits),
    version,
  };
}

/** What a process that has ended left half done. */
async function takeUp(
  application: Application,
  { isAlone, closers }: Pick<ServedParts, 'isAlone' | 'closers'>,
): Promise<void> {
  const starts = await takeUpStarts(application, { isAlone });
  closers.add(() => starts.stop());
  await takeUpSandboxes(application);
}

/** Null when there is a key or the deployment gives one, which is printed nowhere. */
async function firstKeyOf(options: ServedOptions, { store, env }: ServedParts): Promise<string | null> {
  const { apiKeys } = store;
  const given = env['PARLEY_FIRST_API_KEY'] ?? '';
  if (await apiKeys.hasAny()) {
    if (given !== '' && (await apiKeys.findByHash(hashOfKey(given))) === null)
      options.onNotice(GIVEN_TOO_LATE);
    return null;
  }
  if (given !== '') {
    await issueKey(apiKeys, { ...FIRST_KEY, key: given, now: Date.now() });
    return null;
  }
  if (isLoopback(options.host)) return (await issueKey(apiKeys, { ...FIRST_KEY, now: Date.now() })).key;
  if (options.awaitsKey === true) return await awaitKey(apiKeys, options);
  throw new ParleyError('unauthorized', 'Cannot serve beyond this machine: there is no API key', {
    remedy: 'issue one with "parley key create --scope admin", or set PARLEY_FIRST_API_KEY',
  });
}

const GIVEN_TOO_LATE =
  'PARLEY_FIRST_API_KEY opens nothing: other keys were there before it; issue another with "parley key create"';
/** A job that makes the key takes seconds; an operator who makes it by hand is reminded. */
const KEY_POLL_MS = 1_000;
const KEY_TOLD_EVERY_POLLS = 60;

/** Until another process has issued one; the supervisor of this one bounds the wait. */
async function awaitKey(
  apiKeys: Pick<ApiKeyStore, 'hasAny'>,
  { onNotice }: Pick<ServedOptions, 'onNotice'>,
): Promise<null> {
  for (let looks = 0; !(await apiKeys.hasAny()); looks += 1) {
    if (looks % KEY_TOLD_EVERY_POLLS === 0)
      onNotice('there is no API key yet: serving begins with the first one, as of "parley key create"');
    await pause(KEY_POLL_MS);
  }
  return null;
}

function listen(application: Application, options: ApplicationOptions): Promise<ApplicationServer> {
  const { host, port, corsOrigins } = options;
  return listening(options, () =>
    startApplicationServer(application, {
      ...{ at: { host, port }, corsOrigins, routes: APPLICATION_ROUTES },
      log: (line) => options.onAccess(line),
      extend(app, gate) {
        extendApplication(application)(app, gate);
        registerConsole(app, path.join(path.dirname(builtProgram('agent-server.cjs')), CONSOLE_FOLDER));
      },
    }),
  );
}
