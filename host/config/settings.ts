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

export const SETTINGS = [
  { path: 'engine.kind', fallback: 'embedded', env: 'PARLEY_ENGINE' },
  // The names that every tool of Temporal reads; empty means that there is none.
  { path: 'engine.address', fallback: '', env: 'TEMPORAL_ADDRESS' },
  { path: 'engine.namespace', fallback: 'default', env: 'TEMPORAL_NAMESPACE' },
  { path: 'engine.task_queue', fallback: 'parley', env: 'PARLEY_TASK_QUEUE' },
  // As temporal/worker.ts has them: boots are heavy; agent traffic and looks are mostly waiting.
  { path: 'engine.slots.sandbox', fallback: 8, env: 'PARLEY_SLOTS_SANDBOX' },
  { path: 'engine.slots.agent', fallback: 64, env: 'PARLEY_SLOTS_AGENT' },
  { path: 'engine.slots.bookkeeping', fallback: 16, env: 'PARLEY_SLOTS_BOOKKEEPING' },
  { path: 'engine.slots.watch', fallback: 64, env: 'PARLEY_SLOTS_WATCH' },
  { path: 'engine.metrics', fallback: '', env: 'PARLEY_METRICS' },
  { path: 'engine.versioning.deployment', fallback: '', env: 'PARLEY_DEPLOYMENT' },
  { path: 'engine.versioning.build_id', fallback: '', env: 'PARLEY_BUILD_ID' },
  // The name that every program of OpenTelemetry reads.
  { path: 'engine.otlp_endpoint', fallback: '', env: 'OTEL_EXPORTER_OTLP_ENDPOINT' },
  { path: 'engine.events_max', fallback: EVENTS_MAX_DEFAULT, env: 'PARLEY_EVENTS_MAX' },
  { path: 'store.kind', fallback: 'sqlite', env: 'PARLEY_STORE' },
  // Enough that fifty clients at once do not wait for each other, and a tenth of what a server has by default.
  { path: 'store.pool', fallback: 10, env: 'PARLEY_STORE_POOL' },
  // No statement of ours takes a second; a lock that is held for so long belongs to something that hangs.
  { path: 'store.statement_timeout', fallback: 30, env: 'PARLEY_STATEMENT_TIMEOUT' },
  { path: 'store.path', fallback: '.parley', env: 'PARLEY_DATA_DIR' },
  { path: 'results.path', fallback: 'out', env: 'PARLEY_RESULTS_DIR' },
  { path: 'runtime.kind', fallback: 'process', env: 'PARLEY_RUNTIME' },
  { path: 'runtime.isolation', fallback: 'auto', env: 'PARLEY_ISOLATION' },
  { path: 'runtime.docker.socket', fallback: '/var/run/docker.sock', env: 'PARLEY_DOCKER_SOCKET' },
  { path: 'runtime.docker.image', fallback: 'host', env: 'PARLEY_DOCKER_IMAGE' },
  { path: 'runtime.kubernetes.namespace', fallback: 'parley-sandboxes', env: 'PARLEY_KUBERNETES_NAMESPACE' },
  { path: 'runtime.kubernetes.installation', fallback: 'parley', env: 'PARLEY_KUBERNETES_INSTALLATION' },
  { path: 'runtime.kubernetes.kubeconfig', fallback: '', env: 'PARLEY_KUBECONFIG' },
  { path: 'runtime.kubernetes.context', fallback: '', env: 'PARLEY_KUBERNETES_CONTEXT' },
  { path: 'runtime.kubernetes.image', fallback: '', env: 'PARLEY_KUBERNETES_IMAGE' },
  { path: 'runtime.kubernetes.pull_secret', fallback: '', env: 'PARLEY_KUBERNETES_PULL_SECRET' },
  { path: 'runtime.kubernetes.storage_class', fallback: '', env: 'PARLEY_KUBERNETES_STORAGE_CLASS' },
  { path: 'runtime.kubernetes.runtime_class', fallback: '', env: 'PARLEY_KUBERNETES_RUNTIME_CLASS' },
  { path: 'runtime.kubernetes.pod_security', fallback: 'baseline', env: 'PARLEY_KUBERNETES_POD_SECURITY' },
  { path: 'runtime.kubernetes.service', fallback: 'parley-routes', env: 'PARLEY_KUBERNETES_SERVICE' },
  { path: 'runtime.kubernetes.listen', fallback: '0.0.0.0', env: 'PARLEY_KUBERNETES_LISTEN' },
  // An idle agent takes less of either; what it needs beyond is taken from what its node has left.
  { path: 'runtime.kubernetes.memory_request_mb', fallback: 512, env: 'PARLEY_KUBERNETES_MEMORY_REQUEST_MB' },
  {
    path: 'runtime.kubernetes.cpu_request_percent',
    fallback: 25,
    env: 'PARLEY_KUBERNETES_CPU_REQUEST_PERCENT',
  },
  { path: 'runtime.egress.ca', fallback: '', env: 'PARLEY_EGRESS_CA' },
  // As runtimes/on-host/limits.ts has them: more than one repository takes, less than a host that serves several has.
  { path: 'runtime.limits.memory_mb', fallback: 4_096, env: 'PARLEY_SANDBOX_MEMORY_MB' },
  { path: 'runtime.limits.processes', fallback: 512, env: 'PARLEY_SANDBOX_PROCESSES' },
  { path: 'runtime.limits.cpu_percent', fallback: 0, env: 'PARLEY_SANDBOX_CPU_PERCENT' },
  { path: 'runtime.limits.file_mb', fallback: 4_096, env: 'PARLEY_SANDBOX_FILE_MB' },
  { path: 'runtime.limits.disk_mb', fallback: 10_240, env: 'PARLEY_SANDBOX_DISK_MB' },
  { path: 'host.name', fallback: '', env: 'PARLEY_HOST_NAME' },
  { path: 'host.capacity', fallback: 0, env: 'PARLEY_HOST_CAPACITY' },
  // A worker that is restarted is back sooner; on one that is gone sandboxes are placed for so long.
  { path: 'host.lease', fallback: 60, env: 'PARLEY_HOST_LEASE' },
  // A machine that is started anew is back sooner; a start that waits for one that is gone does not fail before.
  { path: 'host.lost_after', fallback: 300, env: 'PARLEY_HOST_LOST_AFTER' },
  // Empty: agents here are reached from this host alone.
  { path: 'host.relay', fallback: '', env: 'PARLEY_HOST_RELAY' },
  { path: 'host.relay_listen', fallback: '0.0.0.0', env: 'PARLEY_HOST_RELAY_LISTEN' },
  { path: 'host.placement', fallback: 'spread', env: 'PARLEY_HOST_PLACEMENT' },
  { path: 'agent.kind', fallback: 'reference', env: 'PARLEY_AGENT' },
  { path: 'agent.python', fallback: 'python3', env: 'PARLEY_AGENT_PYTHON' },
  { path: 'agent.use', fallback: '', env: 'PARLEY_AGENT_USE' },
  { path: 'agent.mode', fallback: '', env: 'PARLEY_AGENT_MODE' },
  { path: 'agent.version', fallback: '', env: 'PARLEY_AGENT_VERSION' },
  { path: 'agent.iterations_max', fallback: ITERATIONS_DEFAULT, env: 'PARLEY_ITERATIONS_MAX' },
  { path: 'limits.idle_time', fallback: IDLE_TIME_DEFAULT_MS / SECOND_MS, env: 'PARLEY_IDLE_TIME' },
  {
    path: 'limits.deletion_time',
    fallback: DELETION_TIME_DEFAULT_MS / SECOND_MS,
    env: 'PARLEY_DELETION_TIME',
  },
  { path: 'capacity.sandboxes', fallback: CAPACITY_INSTALLATION_DEFAULT, env: 'PARLEY_SANDBOXES' },
  { path: 'capacity.sandboxes_per_user', fallback: CAPACITY_USER_DEFAULT, env: 'PARLEY_SANDBOXES_PER_USER' },
  {
    path: 'capacity.conversations_per_sandbox',
    fallback: CONVERSATIONS_PER_SANDBOX_DEFAULT,
    env: 'PARLEY_CONVERSATIONS_PER_SANDBOX',
  },
  { path: 'capacity.on_full', fallback: 'refuse', env: 'PARLEY_ON_FULL' },
  { path: 'warm_pool.size', fallback: 0, env: 'PARLEY_WARM_POOL' },
  { path: 'warm_pool.max_age', fallback: WARM_AGE_DEFAULT_MS / SECOND_MS, env: 'PARLEY_WARM_POOL_MAX_AGE' },
  { path: 'user.grouping', fallback: 'no_grouping', env: 'PARLEY_GROUPING' },
  { path: 'user.git_author.name', fallback: 'Parley', env: 'PARLEY_GIT_AUTHOR_NAME' },
  { path: 'user.git_author.email', fallback: 'parley@localhost', env: 'PARLEY_GIT_AUTHOR_EMAIL' },
  { path: 'proxy.vendor', fallback: 'proxyvendor', env: 'PARLEY_PROXY_VENDOR' },
  { path: 'proxy.port', fallback: 0, env: 'PARLEY_PROXY_PORT' },
] as const satisfies readonly Setting[];

export type SettingPath = (typeof SETTINGS)[number]['path'];
