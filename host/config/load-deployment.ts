/**
 * From `parley.yaml` and the environment to a deployment, with every problem at its place.
 * Owns the order of the steps and the conversion into plain data; must not open, create or start anything.
 */
import path from 'node:path';
import { SECOND_MS } from '../../core/time.ts';
import type { GroupingStrategy } from '../../core/status.ts';
import { toValue } from '../../dsl/read/tree.ts';
import { readAgentBlock } from './blocks/agent-block.ts';
import { readBlobsBlock } from './blocks/blobs-block.ts';
import { clearValueProblems } from './clear-values.ts';
import { readCodeHosts } from './blocks/code-hosts.ts';
import type { ConfigParts } from './config-parts.ts';
import type { Deployment } from '../../ports/deployment.ts';
import type { ConfigurationVersion } from '../../ports/shared-configuration.ts';
import type {
  DeploymentConfig,
  EngineConfig,
  EngineKind,
  IsolationChoice,
  RuntimeKind,
  VersioningConfig,
} from './deployment-config.ts';
import { findDeploymentFile, readDeploymentFile, type DeploymentFile } from './deployment-file.ts';
import { deploymentSchema, type DeploymentDocument } from './schema/deployment-schema.ts';
import {
  effectiveValues,
  numberOf,
  textOf,
  valueOf,
  type EffectiveValue,
  type Environment,
} from './effective-values.ts';
import { egressRules, readEgressCa, sandboxLimitsOf } from './blocks/runtime-block.ts';
import { readEngineBlock, type EngineBlock } from './blocks/engine-block.ts';
import { readGatewayExport } from './blocks/gateway-export.ts';
import { hostOf } from './blocks/host-block.ts';
import { readKubernetesBlock } from './blocks/kubernetes-block.ts';
import type { Problem } from './problem.ts';
import { checkProxy } from './proxy-problems.ts';
import { readStoreBlock } from './blocks/store-block.ts';
import { schemaProblems } from './schema-problems.ts';
import { readSharedText } from './shared-text.ts';
import { revisionOf } from './text-revision.ts';
import { warmPoolOf, warmPoolProblems } from './blocks/warm-pool-block.ts';
import { withSeconds } from './schema/seconds.ts';
import type { SettingPath } from './settings.ts';

/** A deployment that was read, with everything that is wrong in it. */
export interface LoadedDeployment {
  /** Null when a key of the deployment itself is wrong; problems of the area `proxy` leave it. */
  readonly config: DeploymentConfig | null;
  readonly problems: readonly Problem[];
  /** Every single setting with its origin, for `config explain`. */
  readonly values: readonly EffectiveValue[];
  readonly file: DeploymentFile | null;
  /** The version of the shared configuration that was laid over it. */
  readonly shared: DeploymentFile | null;
}

export interface LoadOptions {
  /** The file that was named; null searches for `parley.yaml` upward from `cwd`. */
  readonly path: string | null;
  readonly cwd: string;
  readonly env: Environment;
  /** What it says wins over the file, and a variable over both. */
  readonly shared?: ConfigurationVersion | null;
}

/** A running agent and an idle sandbox are polled this often although no event came. */
const POLL_MS = 5 * SECOND_MS;
/** Names the file for every command, as `--config` does for one. */
const CONFIG_VARIABLE = 'PARLEY_CONFIG';

const NO_PROBLEMS: { readonly problems: readonly Problem[] } = { problems: [] };

/** Never throws for anything that the file or the environment holds. */
export async function loadDeployment(options: LoadOptions): Promise<LoadedDeployment> {
  const { cwd, env } = options;
  const { file, shared, read, over, values, problems } = readSources(options);
  if (isBroken(problems)) return { config: null, problems, values, file, shared };
  const parts = { document: read.document, file, env, baseDir: baseDirOf(file, cwd) };
  const codeHosts = await readCodeHosts(parts);
  const gatewayExport = readGatewayExport(parts);
  const engine = await readEngineBlock(parts, {
    metrics: valueOf(values, 'engine.metrics'),
    deployment: textOf(values, 'engine.versioning.deployment'),
    buildId: valueOf(values, 'engine.versioning.build_id'),
  });
  const store = await readStoreBlock(parts, {
    kind: valueOf(values, 'store.kind'),
    pool: numberOf(values, 'store.pool'),
    statementTimeoutMs: numberOf(values, 'store.statement_timeout') * SECOND_MS,
  });
  const blobs = readBlobsBlock(parts);
  const port = numberOf(values, 'proxy.port');
  const proxyOf =
    over.document.proxy_config === undefined ? { from: file, read } : { from: shared, read: over };
  const { proxy_config: proxyConfigRaw } = proxyOf.read.document;
  const vendor = textOf(values, 'proxy.vendor');
  const proxy = await checkProxy({ raw: proxyConfigRaw, vendor, port, env, file: proxyOf.from });
  for (const block of [codeHosts, gatewayExport, engine, store, blobs, proxy])
    problems.push(...block.problems);
  const { kubernetes, problems: ofKubernetes } = readKubernetesBlock(parts, values);
  const { egressCa, problems: ofCa } = readEgressCa(parts, values);
  const { agent, agentServer, problems: agentProblems } = readAgentBlock(parts, values);
  problems.push(
    ...agentProblems,
    ...ofKubernetes,
    ...ofCa,
    ...warmPoolProblems({ ...parts, file: shared ?? file }, values),
  );
  if (isBroken(problems)) return { config: null, problems, values, file, shared };
  const folders = { baseDir: parts.baseDir, cwd };
  const egressAllow = egressRules(read.document.runtime?.egress?.allow ?? [], codeHosts.hosts);
  const config: DeploymentConfig = {
    deployment: deploymentOf(values, { forwardsHeaders: proxy.forwardsHeaders, egressAllow, agent }),
    engine: engineOf(values, engine),
    store: store.store,
    bucket: blobs.bucket,
    dataDir: directoryOf(values, 'store.path', folders),
    resultsDir: directoryOf(values, 'results.path', folders),
    baseDir: parts.baseDir,
    runtimeKind: textOf(values, 'runtime.kind') as RuntimeKind,
    isolation: textOf(values, 'runtime.isolation') as IsolationChoice,
    docker: {
      socket: path.resolve(parts.baseDir, textOf(values, 'runtime.docker.socket')),
      image: textOf(values, 'runtime.docker.image'),
    },
    kubernetes,
    host: hostOf(parts, values),
    agent: agentServer,
    sharedFolders: sharedFolders(parts),
    sandboxLimits: sandboxLimitsOf(values),
    egressAllow,
    egressCa,
    codeHosts: codeHosts.hosts,
    codeHostTokens: codeHosts.tokens,
    proxyConfigRaw,
    proxyPort: port === 0 ? null : port,
    gatewayExport: gatewayExport.export,
    configPath: file?.path ?? null,
    reading: { revision: file?.revision ?? revisionOf(''), values },
  };
  return { config, problems, values, file, shared };
}

/** The two texts, each by itself, and what holds once one is laid over the other. */
function readSources({ path: named, cwd, env, shared: version = null }: LoadOptions) {
  const found = findDeploymentFile(named ?? (env[CONFIG_VARIABLE] || null), cwd);
  const file = found === null ? null : withSeconds(readDeploymentFile(found, cwd));
  const shared = version === null ? null : withSeconds(readSharedText(version));
  const [read, over] = [readDocument(file), readDocument(shared)];
  const effective = effectiveValues([shared, file], env);
  const problems = [file ?? NO_PROBLEMS, read, shared ?? NO_PROBLEMS, over, effective].flatMap(
    (one) => one.problems,
  );
  return { file, shared, read, over, values: effective.values, problems };
}

function readDocument(file: DeploymentFile | null): {
  readonly document: DeploymentDocument;
  readonly problems: readonly Problem[];
} {
  if (file === null || file.tree === null) return { document: {}, problems: [] };
  const parsed = deploymentSchema.safeParse(toValue(file.tree));
  const clear = clearValueProblems(file);
  if (parsed.success) return { document: parsed.data, problems: clear };
  // A value of the wrong form is reported once, by the problem that has a remedy.
  const isSaid = new Set(clear.map(({ line, column }) => `${line}:${column}`));
  const left = schemaProblems(parsed.error.issues, file).filter(
    ({ line, column }) => line === null || !isSaid.has(`${line}:${column}`),
  );
  return { document: {}, problems: [...clear, ...left] };
}

function isBroken(problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === 'error' && problem.area === 'deployment');
}

function baseDirOf(file: DeploymentFile | null, cwd: string): string {
  return file === null ? path.resolve(cwd) : path.dirname(file.path);
}

function deploymentOf(
  values: readonly EffectiveValue[],
  read: {
    readonly forwardsHeaders: boolean;
    readonly egressAllow: readonly string[];
    readonly agent: Deployment['agent'] | null;
  },
): Deployment {
  const { forwardsHeaders, egressAllow, agent } = read;
  return {
    limits: {
      idleTimeMs: limitOf(values, 'limits.idle_time'),
      deletionTimeMs: limitOf(values, 'limits.deletion_time'),
    },
    capacity: {
      installationMax: numberOf(values, 'capacity.sandboxes'),
      userMax: numberOf(values, 'capacity.sandboxes_per_user'),
      conversationsPerSandboxMax: numberOf(values, 'capacity.conversations_per_sandbox'),
    },
    warmPool: warmPoolOf(values, egressAllow),
    onFull: textOf(values, 'capacity.on_full') as Deployment['onFull'],
    grouping: textOf(values, 'user.grouping').toUpperCase() as GroupingStrategy,
    gitAuthor: {
      name: textOf(values, 'user.git_author.name'),
      email: textOf(values, 'user.git_author.email'),
    },
    vendor: textOf(values, 'proxy.vendor'),
    iterationsMax: numberOf(values, 'agent.iterations_max'),
    forwardsHeaders,
    pollMs: POLL_MS,
    ...(agent === null || agent === undefined ? {} : { agent }),
  };
}

function sharedFolders({ document, baseDir }: ConfigParts): readonly string[] {
  return (document.runtime?.shared_folders ?? []).map((folder) => path.resolve(baseDir, folder));
}

function engineOf(values: readonly EffectiveValue[], block: EngineBlock): EngineConfig {
  const { tls, apiKey, metrics } = block;
  const slots = (name: SettingPath): number => numberOf(values, name);
  return {
    kind: textOf(values, 'engine.kind') as EngineKind,
    temporal: {
      address: textOf(values, 'engine.address') || null,
      namespace: textOf(values, 'engine.namespace'),
      queue: textOf(values, 'engine.task_queue'),
      tls,
      apiKey,
      slots: {
        sandbox: slots('engine.slots.sandbox'),
        agent: slots('engine.slots.agent'),
        bookkeeping: slots('engine.slots.bookkeeping'),
        watch: slots('engine.slots.watch'),
      },
      eventsMax: numberOf(values, 'engine.events_max'),
      metrics,
      versioning: versioningOf(values),
    },
    otlpEndpoint: textOf(values, 'engine.otlp_endpoint') || null,
  };
}

function versioningOf(values: readonly EffectiveValue[]): VersioningConfig | null {
  const deployment = textOf(values, 'engine.versioning.deployment');
  if (deployment === '') return null;
  return { deployment, buildId: textOf(values, 'engine.versioning.build_id') || null };
}

interface Folders {
  /** Folder of the file, or the working folder without one. */
  readonly baseDir: string;
  readonly cwd: string;
}

/** A path in the file is relative to the file, one in a variable to the working folder, as in a shell. */
function directoryOf(values: readonly EffectiveValue[], name: SettingPath, folders: Folders): string {
  const { value, source } = valueOf(values, name);
  return path.resolve(source === 'env' ? folders.cwd : folders.baseDir, String(value));
}

/** Zero switches a limit off (D10). */
function limitOf(values: readonly EffectiveValue[], name: SettingPath): number | null {
  const seconds = numberOf(values, name);
  return seconds === 0 ? null : seconds * SECOND_MS;
}
