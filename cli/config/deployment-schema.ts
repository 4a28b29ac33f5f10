/**
 * The form of `parley.yaml`: closed objects, one description per key.
 * Owns forms and bounds; defaults are in settings.ts. No key reaches the length of a session (D10).
 */
import { z } from 'zod';
import { GROUPING_STRATEGIES, type GroupingStrategy } from '../../core/status.ts';

/** More than any machine boots in advance. */
const WARM_POOL_MAX = 1_000;
/** At the least a pool that is not replaced all the time; at the most so long that its claimants have a session worth its name. */
const WARM_AGE_SECONDS_RANGE = [60, 36_000] as const;
/** A year of seconds: a longer limit is a missing unit. */
const LIMIT_SECONDS_MAX = 366 * 86_400;
/** More sandboxes than one machine or one list can hold. */
const SANDBOXES_MAX = 100_000;
const CONVERSATIONS_MAX = 1_000;
const ITERATIONS_MAX = 100_000;
const PORT_MAX = 65_535;
/** Below, a conversation would be continued as new all the time; above, the server itself asks for it. */
const EVENTS_MAX_RANGE = [40, 8_000] as const;
/** More at once than one process can hold. */
const SLOTS_MAX = 10_000;
const TEXT_MAX = 1_024;
/** A server has some hundred for all of its clients. */
const POOL_MAX = 500;
/** A statement of an hour is none of ours. */
const STATEMENT_SECONDS_MAX = 3_600;

export const ENGINE_KINDS = ['embedded', 'temporal'] as const;
export const STORE_KINDS = ['sqlite', 'postgres'] as const;
/** Ours, or the server of OpenHands as a process of its own. */
export const AGENT_KINDS = ['reference', 'openhands'] as const;

export const GROUPING_WORDS = GROUPING_STRATEGIES.map(
  (word) => word.toLowerCase() as Lowercase<GroupingStrategy>,
);

/** The one way to name a value that must not stand in a file (D20). */
export const ENVIRONMENT_REFERENCE = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/;

/** `HOST:PORT`; an address of IPv6 stands in brackets. */
const ADDRESS = /^(\[[0-9A-Fa-f:.]+\]|[^\s:/[\]]+):\d{1,5}$/;
/** What a task queue may be called: its name is part of the names of the queues of each class. */
const TASK_QUEUE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Where metrics are shown: `PORT` or `ADDRESS:PORT`; the address itself is checked where it is read. */
const METRICS_ADDRESS = /^((\[[0-9A-Fa-f:.]+\]|[0-9.]+):)?\d{1,5}$/;
/** A "." or ":" would end the name in the words of Temporal. */
const DEPLOYMENT = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const BUILD_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const HTTP_ADDRESS = /^https?:\/\/[^\s?#]+$/;

const text = (description: string) => z.string().min(1).max(TEXT_MAX).meta({ description }).optional();
const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words, description: string) =>
  z.enum(words).meta({ description }).optional();
const count = (min: number, max: number, description: string) =>
  z.number().int().min(min).max(max).meta({ description }).optional();
const fitting = (form: RegExp, description: string) =>
  z.string().regex(form).meta({ description }).optional();
const secret = (description: string) => fitting(ENVIRONMENT_REFERENCE, description);

const codeHost = z.strictObject({
  url: z.string().min(1).max(TEXT_MAX).meta({
    description: 'Clone URL template with {owner}, {repo} or {name}; file: paths are relative to this file.',
  }),
  default: z.boolean().meta({ description: 'Meant when a job names no host.' }).optional(),
  token: secret('Credential for this host as os.environ/NAME.'),
});

const gatewayExport = z.strictObject({
  url: z.string().min(1).max(TEXT_MAX).meta({
    description: 'Address of the spend export, or os.environ/NAME; no export while that is unset.',
  }),
  key: secret('Key of the export as os.environ/NAME.'),
  format: oneOf(['jsonl', 'csv'], 'Form of the rows.'),
});

const slots = (what: string) => count(1, SLOTS_MAX, `${what} at once in one process.`);

const engine = z.strictObject({
  kind: oneOf(ENGINE_KINDS, 'What drives the machines.'),
  address: fitting(ADDRESS, 'Temporal server as HOST:PORT; without one, a run starts a server of its own.'),
  namespace: text('Namespace on the Temporal server.'),
  task_queue: fitting(TASK_QUEUE, 'Prefix of the task queues of this deployment.'),
  tls: z
    .strictObject({
      ca: text('Authority of the certificate of the server, a PEM file; relative to this file.'),
      cert: text('Certificate of this client, a PEM file; relative to this file.'),
      key: text('Key of that certificate, a PEM file; relative to this file.'),
      server_name: text('Name in the certificate of the server, where it is not that of the address.'),
    })
    .meta({ description: 'TLS to the Temporal server; empty trusts the authorities of the system.' })
    .optional(),
  api_key: secret('Key of the Temporal server as os.environ/NAME; it means TLS.'),
  slots: z
    .strictObject({
      sandbox: slots('Starts, stops and deletions of sandboxes'),
      agent: slots('Calls to agents and commands in sandboxes'),
      bookkeeping: slots('Placements, records and reports'),
      watch: slots('Looks at idle sandboxes and at agents'),
    })
    .meta({ description: 'How much of each class a worker carries out.' })
    .optional(),
  metrics: fitting(METRICS_ADDRESS, 'Where a process shows its metrics to Prometheus, as ADDRESS:PORT.'),
  versioning: z
    .strictObject({
      deployment: fitting(DEPLOYMENT, 'Deployment of the workers; without one they have no versions.'),
      build_id: fitting(BUILD_ID, 'Name of this build; made of version and workflows where it is left out.'),
    })
    .meta({ description: 'Which build of which deployment a worker says it is.' })
    .optional(),
  otlp_endpoint: fitting(HTTP_ADDRESS, 'Collector of OpenTelemetry that takes spans over HTTP.'),
  events_max: count(...EVENTS_MAX_RANGE, 'Events of a history before it is continued as new.'),
});

/** A memory, a disk or a file beyond this is a wrong unit. */
const MEGABYTES_MAX = 16 * 1024 * 1024;
const PROCESSES_MAX = 4_000_000;
const CPU_PERCENT_MAX = 100_000;
const EGRESS_RULES_MAX = 256;
/** A host name, `*.` before it for what is below, `:PORT` behind it; or the word for the configured code hosts. */
const EGRESS_RULE = /^((\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?(:\d{1,5})?)$/;

const sandboxLimits = z.strictObject({
  memory_mb: count(0, MEGABYTES_MAX, 'Memory, files in memory included, in MiB.'),
  processes: count(0, PROCESSES_MAX, 'Processes and threads at once.'),
  cpu_percent: count(0, CPU_PERCENT_MAX, 'Processor time in percent of one processor.'),
  file_mb: count(0, MEGABYTES_MAX, 'The largest single file, in MiB.'),
  disk_mb: count(0, MEGABYTES_MAX, 'Everything kept on disk together, in MiB.'),
});

/** A tag may become another image at any time; a digest may not. */
const DOCKER_IMAGE = /^(host|([^@\s]+@)?sha256:[0-9a-f]{64})$/;

const docker = z.strictObject({
  socket: text('Unix socket of the daemon.'),
  image: fitting(DOCKER_IMAGE, 'host, made of the programs of this host, or an image by digest.'),
});

/** As in names of the cluster. */
const CLUSTER_NAME = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;
const INSTALLATION = /^[a-z]([a-z0-9-]{0,14}[a-z0-9])?$/;
const CLUSTER_IMAGE = /^[^@\s]+@sha256:[0-9a-f]{64}$/;
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[^\s:/[\]]+)$/;

const kubernetes = z.strictObject({
  namespace: fitting(CLUSTER_NAME, 'Namespace of the sandboxes; nothing else should be in it.'),
  installation: fitting(INSTALLATION, 'Tells the objects of this deployment from those of another.'),
  kubeconfig: text('File with the cluster and its credentials; relative to this file.'),
  context: text('Context of that file.'),
  image: fitting(CLUSTER_IMAGE, 'Image of the sandboxes by digest, with the programs of Parley.'),
  pull_secret: fitting(CLUSTER_NAME, 'Secret of the namespace that opens the registry.'),
  storage_class: fitting(CLUSTER_NAME, 'Class of the volumes of the sandboxes.'),
  runtime_class: fitting(CLUSTER_NAME, 'Class of the container runtime, for a kernel of its own.'),
  service: fitting(HOST, 'Name or address under which pods reach this process.'),
  listen: fitting(HOST, 'Address on which ways for pods are opened, on ports 4100 to 4103.'),
  memory_request_mb: count(0, MEGABYTES_MAX, 'Memory kept free for a sandbox, in MiB; 0 is its limit.'),
  cpu_request_percent: count(0, CPU_PERCENT_MAX, 'Processor kept free for a sandbox, in percent of one.'),
});

const egress = z.strictObject({
  allow: z
    .array(z.string().max(TEXT_MAX).regex(EGRESS_RULE))
    .max(EGRESS_RULES_MAX)
    .meta({
      description: 'Hosts by name, *.NAME for names below, :PORT for other ports; code_hosts for those.',
    })
    .optional(),
});

export const deploymentSchema = z.strictObject({
  engine: engine.meta({ description: 'The durable engine: in this process, or on Temporal.' }).optional(),
  store: z
    .strictObject({
      kind: oneOf(STORE_KINDS, 'What keeps the records.'),
      path: text('Data directory, relative to this file.'),
      url: secret('URL of the PostgreSQL database as os.environ/NAME.'),
      pool: count(1, POOL_MAX, 'Connections of one process to PostgreSQL.'),
      statement_timeout: count(0, STATEMENT_SECONDS_MAX, 'Seconds of one statement; 0 sets no bound.'),
      tls: z
        .strictObject({
          ca: text('Authority of the certificate of the server, a PEM file; relative to this file.'),
          cert: text('Certificate of this client, a PEM file; relative to this file.'),
          key: text('Key of that certificate, a PEM file; relative to this file.'),
          server_name: text('Name in the certificate of the server, where it is not that of the address.'),
        })
        .meta({ description: 'TLS to PostgreSQL; empty trusts the authorities of the system.' })
        .optional(),
    })
    .meta({ description: 'Where records, workspaces and sealed secrets live.' })
    .optional(),
  results: z
    .strictObject({ path: text('Folder of the results, relative to this file; one folder per run.') })
    .optional(),
  runtime: z
    .strictObject({
      kind: oneOf(['process', 'docker', 'kubernetes'], 'Where sandboxes come from.'),
      isolation: oneOf(['auto', 'namespaces', 'none'], 'What separates a sandbox from the host.'),
      docker: docker.meta({ description: 'The daemon of this host, and the image.' }).optional(),
      kubernetes: kubernetes
        .meta({ description: 'The cluster, and what its pods are made with.' })
        .optional(),
      limits: sandboxLimits.meta({ description: 'Bounds of every sandbox; 0 sets none.' }).optional(),
      egress: egress.meta({ description: 'What sandboxes reach besides the proxy and Git.' }).optional(),
    })
    .optional(),
  agent: z
    .strictObject({
      kind: oneOf(AGENT_KINDS, 'Which Agent Server runs in a sandbox.'),
      python: text('Python with the packages of OpenHands, as sandboxes see it; it counts for `openhands`.'),
      iterations_max: count(1, ITERATIONS_MAX, 'Agent iterations when a job sets no limit.'),
    })
    .optional(),
  limits: z
    .strictObject({
      idle_time: count(
        0,
        LIMIT_SECONDS_MAX,
        'Seconds without activity until a sandbox is released; 0 never.',
      ),
      deletion_time: count(0, LIMIT_SECONDS_MAX, 'Seconds until a released sandbox is deleted; 0 never.'),
    })
    .meta({ description: 'Limits of every sandbox of the deployment (D10).' })
    .optional(),
  capacity: z
    .strictObject({
      sandboxes: count(1, SANDBOXES_MAX, 'Sandboxes with the runtime up, in all (D17).'),
      sandboxes_per_user: count(1, SANDBOXES_MAX, 'Sandboxes with the runtime up, per user (D17).'),
      conversations_per_sandbox: count(1, CONVERSATIONS_MAX, 'Conversations attached to one sandbox (D16).'),
      on_full: oneOf(['refuse', 'queue', 'pause_longest_idle'], 'What happens when no slot is free (D17).'),
    })
    .optional(),
  warm_pool: z
    .strictObject({
      size: count(0, WARM_POOL_MAX, 'Sandboxes that are kept booted for whoever comes next; 0 keeps none.'),
      max_age: count(...WARM_AGE_SECONDS_RANGE, 'Seconds after which one that nobody claimed is replaced.'),
    })
    .meta({ description: 'Sandboxes that are booted before anybody asks for one.' })
    .optional(),
  user: z
    .strictObject({
      grouping: z
        .enum(GROUPING_WORDS)
        .meta({ description: 'Placement of jobs that say nothing (D16).' })
        .optional(),
      git_author: z
        .strictObject({ name: text('Name in commits.'), email: text('Address in commits.') })
        .meta({ description: 'Author of commits, apart from any credential (D19).' })
        .optional(),
    })
    .optional(),
  code_hosts: z
    .record(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/), codeHost)
    .meta({ description: 'Where repositories come from, by provider (D19).' })
    .optional(),
  proxy: z
    .strictObject({
      vendor: z
        .string()
        .regex(/^[a-z][a-z0-9]{0,31}$/)
        .meta({ description: 'Product word of the built-in proxy (D1).' })
        .optional(),
      port: count(0, PORT_MAX, 'TCP port of the proxy on loopback; 0 opens none.'),
    })
    .optional(),
  proxy_config: z
    .looseObject({})
    .meta({ description: 'Models and settings of the built-in proxy.' })
    .optional(),
  gateway: z
    .strictObject({ export: gatewayExport.optional() })
    .meta({ description: 'The external gateway behind the proxy.' })
    .optional(),
});

export type DeploymentDocument = z.infer<typeof deploymentSchema>;

/** The JSON Schema (draft-07) that editors use for completion. */
export function deploymentJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(deploymentSchema, { target: 'draft-7', io: 'input' });
}
