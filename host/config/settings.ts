/**
 * Every single value of a deployment: its key, its default, and the variable that overrides it.
 * Owns the table; the forms of the values are in deployment-schema.ts, and a test compares the two.
 */
import {
  CAPACITY_INSTALLATION_DEFAULT,
  CAPACITY_USER_DEFAULT,
  CONVERSATIONS_PER_SANDBOX_DEFAULT,
  DELETION_TIME_DEFAULT_MS,
  IDLE_TIME_DEFAULT_MS,
  WARM_AGE_DEFAULT_MS,
} from '../../core/limits.ts';
import { SECOND_MS } from '../../core/time.ts';
import { EVENTS_MAX_DEFAULT } from '../../workflows/events-max.ts';

export type SettingValue = string | number;

export interface Setting {
  /** Dotted path in `parley.yaml`. */
  readonly path: string;
  readonly fallback: SettingValue;
  /** Environment variable that wins over the file. */
  readonly env: string;
}

/** A loop of an agent that needs more steps than this has usually lost its way. */
const ITERATIONS_DEFAULT = 500;

const ROWS = [
  ['engine.kind', 'embedded', 'PARLEY_ENGINE'],
  // The names that every tool of Temporal reads; empty means that there is none.
  ['engine.address', '', 'TEMPORAL_ADDRESS'],
  ['engine.namespace', 'default', 'TEMPORAL_NAMESPACE'],
  ['engine.task_queue', 'parley', 'PARLEY_TASK_QUEUE'],
  // As temporal/worker.ts has them: boots are heavy; agent traffic and looks are mostly waiting.
  ['engine.slots.sandbox', 8, 'PARLEY_SLOTS_SANDBOX'],
  ['engine.slots.agent', 64, 'PARLEY_SLOTS_AGENT'],
  ['engine.slots.bookkeeping', 16, 'PARLEY_SLOTS_BOOKKEEPING'],
  ['engine.slots.watch', 64, 'PARLEY_SLOTS_WATCH'],
  ['engine.metrics', '', 'PARLEY_METRICS'],
  ['engine.versioning.deployment', '', 'PARLEY_DEPLOYMENT'],
  ['engine.versioning.build_id', '', 'PARLEY_BUILD_ID'],
  // The name that every program of OpenTelemetry reads.
  ['engine.otlp_endpoint', '', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  ['engine.events_max', EVENTS_MAX_DEFAULT, 'PARLEY_EVENTS_MAX'],
  ['store.kind', 'sqlite', 'PARLEY_STORE'],
  // Enough that fifty clients at once do not wait for each other, and a tenth of what a server has by default.
  ['store.pool', 10, 'PARLEY_STORE_POOL'],
  // No statement of ours takes a second; a lock that is held for so long belongs to something that hangs.
  ['store.statement_timeout', 30, 'PARLEY_STATEMENT_TIMEOUT'],
  ['store.path', '.parley', 'PARLEY_DATA_DIR'],
  ['results.path', 'out', 'PARLEY_RESULTS_DIR'],
  ['runtime.kind', 'process', 'PARLEY_RUNTIME'],
  ['runtime.isolation', 'auto', 'PARLEY_ISOLATION'],
  ['runtime.docker.socket', '/var/run/docker.sock', 'PARLEY_DOCKER_SOCKET'],
  ['runtime.docker.image', 'host', 'PARLEY_DOCKER_IMAGE'],
  ['runtime.kubernetes.namespace', 'parley-sandboxes', 'PARLEY_KUBERNETES_NAMESPACE'],
  ['runtime.kubernetes.installation', 'parley', 'PARLEY_KUBERNETES_INSTALLATION'],
  ['runtime.kubernetes.kubeconfig', '', 'PARLEY_KUBECONFIG'],
  ['runtime.kubernetes.context', '', 'PARLEY_KUBERNETES_CONTEXT'],
  ['runtime.kubernetes.image', '', 'PARLEY_KUBERNETES_IMAGE'],
  ['runtime.kubernetes.pull_secret', '', 'PARLEY_KUBERNETES_PULL_SECRET'],
  ['runtime.kubernetes.storage_class', '', 'PARLEY_KUBERNETES_STORAGE_CLASS'],
  ['runtime.kubernetes.runtime_class', '', 'PARLEY_KUBERNETES_RUNTIME_CLASS'],
  ['runtime.kubernetes.pod_security', 'baseline', 'PARLEY_KUBERNETES_POD_SECURITY'],
  ['runtime.kubernetes.service', 'parley-routes', 'PARLEY_KUBERNETES_SERVICE'],
  ['runtime.kubernetes.listen', '0.0.0.0', 'PARLEY_KUBERNETES_LISTEN'],
  // An idle agent takes less of either; what it needs beyond is taken from what its node has left.
  ['runtime.kubernetes.memory_request_mb', 512, 'PARLEY_KUBERNETES_MEMORY_REQUEST_MB'],
  ['runtime.kubernetes.cpu_request_percent', 25, 'PARLEY_KUBERNETES_CPU_REQUEST_PERCENT'],
  ['runtime.egress.ca', '', 'PARLEY_EGRESS_CA'],
  // As runtimes/on-host/limits.ts has them: more than one repository takes, less than a host that serves several has.
  ['runtime.limits.memory_mb', 4_096, 'PARLEY_SANDBOX_MEMORY_MB'],
  ['runtime.limits.processes', 512, 'PARLEY_SANDBOX_PROCESSES'],
  ['runtime.limits.cpu_percent', 0, 'PARLEY_SANDBOX_CPU_PERCENT'],
  ['runtime.limits.file_mb', 4_096, 'PARLEY_SANDBOX_FILE_MB'],
  ['runtime.limits.disk_mb', 10_240, 'PARLEY_SANDBOX_DISK_MB'],
  ['host.name', '', 'PARLEY_HOST_NAME'],
  ['host.capacity', 0, 'PARLEY_HOST_CAPACITY'],
  // A worker that is restarted is back sooner; on one that is gone sandboxes are placed for so long.
  ['host.lease', 60, 'PARLEY_HOST_LEASE'],
  // A machine that is started anew is back sooner; a start that waits for one that is gone does not fail before.
  ['host.lost_after', 300, 'PARLEY_HOST_LOST_AFTER'],
  // Empty: agents here are reached from this host alone.
  ['host.relay', '', 'PARLEY_HOST_RELAY'],
  ['host.relay_listen', '0.0.0.0', 'PARLEY_HOST_RELAY_LISTEN'],
  ['host.placement', 'spread', 'PARLEY_HOST_PLACEMENT'],
  ['agent.kind', 'reference', 'PARLEY_AGENT'],
  ['agent.python', 'python3', 'PARLEY_AGENT_PYTHON'],
  ['agent.use', '', 'PARLEY_AGENT_USE'],
  ['agent.mode', '', 'PARLEY_AGENT_MODE'],
  ['agent.version', '', 'PARLEY_AGENT_VERSION'],
  ['agent.iterations_max', ITERATIONS_DEFAULT, 'PARLEY_ITERATIONS_MAX'],
  ['limits.idle_time', IDLE_TIME_DEFAULT_MS / SECOND_MS, 'PARLEY_IDLE_TIME'],
  ['limits.deletion_time', DELETION_TIME_DEFAULT_MS / SECOND_MS, 'PARLEY_DELETION_TIME'],
  ['capacity.sandboxes', CAPACITY_INSTALLATION_DEFAULT, 'PARLEY_SANDBOXES'],
  ['capacity.sandboxes_per_user', CAPACITY_USER_DEFAULT, 'PARLEY_SANDBOXES_PER_USER'],
  [
    'capacity.conversations_per_sandbox',
    CONVERSATIONS_PER_SANDBOX_DEFAULT,
    'PARLEY_CONVERSATIONS_PER_SANDBOX',
  ],
  ['capacity.on_full', 'refuse', 'PARLEY_ON_FULL'],
  ['warm_pool.size', 0, 'PARLEY_WARM_POOL'],
  ['warm_pool.max_age', WARM_AGE_DEFAULT_MS / SECOND_MS, 'PARLEY_WARM_POOL_MAX_AGE'],
  ['user.grouping', 'no_grouping', 'PARLEY_GROUPING'],
  ['user.git_author.name', 'Parley', 'PARLEY_GIT_AUTHOR_NAME'],
  ['user.git_author.email', 'parley@localhost', 'PARLEY_GIT_AUTHOR_EMAIL'],
  ['proxy.vendor', 'proxyvendor', 'PARLEY_PROXY_VENDOR'],
  ['proxy.port', 0, 'PARLEY_PROXY_PORT'],
] as const satisfies readonly (readonly [path: string, fallback: SettingValue, env: string])[];

export type SettingPath = (typeof ROWS)[number][0];

export const SETTINGS: readonly (Setting & { readonly path: SettingPath })[] = ROWS.map(
  ([path, fallback, env]) => ({ path, fallback, env }),
);
