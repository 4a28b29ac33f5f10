/**
 * A deployment after its configuration was read: plain data, absolute paths, milliseconds.
 * Owns the shape; must not read anything. No field reaches the length of a session (D10).
 */
import type { HostLabels, HostStrategy } from '../../core/placement/choose-host.ts';
import type { ResourceClass } from '../../core/machine/resource.ts';
import type { GivenHostApi } from '../../clients/code-hosts/api/api-of-host.ts';
import type { Deployment } from '../../ports/deployment.ts';
import type { SandboxLimits } from '../../ports/sandbox-runtime.ts';
import type { S3Settings } from '../../store/blobs/s3-settings.ts';
import type { PostgresServer } from '../../store/sql/postgres-pool.ts';
import type { TemporalTls } from '../../temporal/server-address.ts';
import type { MetricsAddress } from '../../telemetry/metrics-endpoint.ts';
import type { ENGINE_KINDS } from './schema/deployment-schema.ts';
import type { EffectiveValue } from './effective-values.ts';

export type IsolationChoice = 'auto' | 'namespaces' | 'none';

export type RuntimeKind = 'process' | 'docker' | 'kubernetes';

export interface DockerConfig {
  /** Absolute path of the daemon's unix socket. */
  readonly socket: string;
  /** `host`, or an image by digest. */
  readonly image: string;
}

/** Where pods are made, and with what. */
export interface KubernetesConfig {
  readonly namespace: string;
  /** Part of the names and labels of every object. */
  readonly installation: string;
  /** Absolute; null: the pod's own account, or what the environment names. */
  readonly kubeconfig: string | null;
  /** Null: the current one of the file. */
  readonly context: string | null;
  /** By digest; empty where sandboxes are no pods. */
  readonly image: string;
  readonly pullSecret: string | null;
  /** Null: the cluster's default. */
  readonly storageClass: string | null;
  /** Null: the cluster's default. */
  readonly runtimeClass: string | null;
  /** The level that the namespace admits pods at; tools are another user than their Agent Server only at `baseline`. */
  readonly podSecurity: 'baseline' | 'restricted';
  /** Name or address under which pods reach this process. */
  readonly service: string;
  /** Address of this process on which ways for pods are opened. */
  readonly listen: string;
  /** Null: as much as the limit. */
  readonly memoryRequestBytes: number | null;
  /** Processors; null: as much as the limit. */
  readonly cpuRequest: number | null;
}

export type EngineKind = (typeof ENGINE_KINDS)[number];

/** How the engine on Temporal is set up; it counts when a command chooses that engine. */
export interface TemporalConfig {
  /** `HOST:PORT`; null when none is named: a run then starts a server of its own. */
  readonly address: string | null;
  readonly namespace: string;
  /** Prefix of the task queues. */
  readonly queue: string;
  /** Null speaks TLS only when there is a key. */
  readonly tls: TemporalTls | null;
  /** Never printed (D20). */
  readonly apiKey: string | null;
  readonly slots: Readonly<Record<ResourceClass, number>>;
  /** Events of a history before it is continued as new. */
  readonly eventsMax: number;
  /** Where metrics are shown; null shows none. */
  readonly metrics: MetricsAddress | null;
  /** Null: workers have no versions. */
  readonly versioning: VersioningConfig | null;
}

export interface VersioningConfig {
  readonly deployment: string;
  /** Null: made of the program's version and its workflows. */
  readonly buildId: string | null;
}

export interface EngineConfig {
  readonly kind: EngineKind;
  readonly temporal: TemporalConfig;
  /** Collector of spans, for both kinds; null leaves it to the other variables of OpenTelemetry. */
  readonly otlpEndpoint: string | null;
}

/** What a worker says of the machine on which its sandboxes live. */
export interface HostConfig {
  /** Null: as its data directory was called before, else as the machine. */
  readonly name: string | null;
  /** Null: as many as the installation. */
  readonly capacity: number | null;
  readonly labels: HostLabels;
  readonly leaseMs: number;
  /** Beyond the lease of another host, until that is given up. */
  readonly lostAfterMs: number;
  readonly strategy: HostStrategy;
  /** `HOST:PORT` of its relay, and what is listened on; null: there is none. */
  readonly relay: { readonly address: string; readonly listen: string } | null;
}

/** Where records live. */
export type StoreConfig =
  { readonly kind: 'sqlite' } | { readonly kind: 'postgres'; readonly server: PostgresServer };

export interface CodeHostConfig {
  /** Clone URL template; a `file:` template is absolute. */
  readonly url: string;
  readonly default: boolean;
  /** As written; null where nothing is. */
  readonly api: GivenHostApi | null;
}

export interface GatewayExportConfig {
  readonly url: string;
  /** Never printed (D20); empty when the export needs none. */
  readonly apiKey: string;
  readonly format: 'jsonl' | 'csv';
}

/** What a later text of the file is compared with. */
export interface ConfigReading {
  /** Names the text that was read. */
  readonly revision: string;
  /** Every single setting with its origin. */
  readonly values: readonly EffectiveValue[];
}

/** The Agent Server of every sandbox. */
export interface AgentConfig {
  readonly kind: 'reference' | 'openhands';
  /** Interpreter of an OpenHands server, as sandboxes see it. */
  readonly python: string;
}

/** A deployment as the programs take it: file, environment and defaults together, checked. */
export interface DeploymentConfig {
  /** What the activities need. */
  readonly deployment: Deployment;
  readonly engine: EngineConfig;
  readonly store: StoreConfig;
  /** Where archives and results live; null: in `dataDir` and `resultsDir`. */
  readonly bucket: S3Settings | null;
  /** Absolute; holds the store of SQLite, workspaces, keys, and archives where there is no bucket. */
  readonly dataDir: string;
  /** Absolute; one folder per run. With a bucket it is where copies go that a user requests. */
  readonly resultsDir: string;
  /** Absolute; what relative paths in the file were relative to. */
  readonly baseDir: string;
  readonly runtimeKind: RuntimeKind;
  /** How sandboxes of the process runtime are separated. */
  readonly isolation: IsolationChoice;
  /** It counts when `runtimeKind` is `docker`. */
  readonly docker: DockerConfig;
  /** It counts when `runtimeKind` is `kubernetes`. */
  readonly kubernetes: KubernetesConfig;
  /** It counts where sandboxes are bound to hosts. */
  readonly host: HostConfig;
  readonly agent: AgentConfig;
  /** Absolute; sandboxes of the process runtime see them, and cannot write them. */
  readonly sharedFolders: readonly string[];
  readonly sandboxLimits: SandboxLimits;
  /** Authorities that sandboxes trust besides those of the public, as PEM text; null for none. */
  readonly egressCa: string | null;
  /** Rules of hosts that sandboxes may reach; empty when there is no way out. */
  readonly egressAllow: readonly string[];
  /** By provider; empty when none is configured. */
  readonly codeHosts: Readonly<Record<string, CodeHostConfig>>;
  /** Credentials by provider, opened from the environment; never printed (D20). */
  readonly codeHostTokens: Readonly<Record<string, string>>;
  /** The value of `proxy_config` for the proxy's own parser; undefined when the key is absent. */
  readonly proxyConfigRaw: unknown;
  /** TCP port of the proxy on loopback; null opens none, and only sandboxes reach it. */
  readonly proxyPort: number | null;
  /** Null when there is none, or its address names a variable that is not set. */
  readonly gatewayExport: GatewayExportConfig | null;
  /** Absolute path of the file that was read; null when everything is a default. */
  readonly configPath: string | null;
  readonly reading: ConfigReading;
}
