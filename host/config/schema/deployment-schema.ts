/**
 * The form of `parley.yaml`: closed objects, one description per key.
 * Owns forms and bounds; defaults are in settings.ts. No key reaches the length of a session (D10).
 */
import { z } from 'zod';
import { CODE_HOST_KINDS } from '../../../core/plan/plan-issue.ts';
import { GROUPING_STRATEGIES, type GroupingStrategy } from '../../../core/status.ts';
import { blobs } from './blobs-schema.ts';
import { host } from './host-schema.ts';
import { runtime } from './runtime-schema.ts';
import { block, count, fitting, oneOf, secret, text, TEXT_MAX, tlsTo } from './schema-forms.ts';

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
/** A server has some hundred for all of its clients. */
const POOL_MAX = 500;
/** A statement of an hour is none of ours. */
const STATEMENT_SECONDS_MAX = 3_600;

export const ENGINE_KINDS = ['embedded', 'temporal'] as const;
export const STORE_KINDS = ['sqlite', 'postgres'] as const;
/** Ours, the server of OpenHands as a process of its own, or ours with another program in place of its loop. */
export const AGENT_KINDS = ['reference', 'openhands', 'acp'] as const;

export const GROUPING_WORDS = GROUPING_STRATEGIES.map(
  (word) => word.toLowerCase() as Lowercase<GroupingStrategy>,
);

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

const codeHost = z
  .strictObject({
    url: z.string().min(1).max(TEXT_MAX).meta({
      description:
        'Clone URL template with {owner}, {repo} or {name}. A file: path is relative to this file.',
    }),
    default: z
      .boolean()
      .meta({ description: 'Meant when a job names no host. One host can be it.' })
      .optional(),
    token: secret('Credential for this host as os.environ/NAME. Sandboxes never see it.'),
    api: block(
      'Its interface for issues and pull requests. It follows from word and URL where they say it.',
      {
        kind: oneOf(CODE_HOST_KINDS, 'Whose interface it speaks. The word gitea is Forgejo, too.'),
        url: fitting(
          HTTP_ADDRESS,
          'Address of the interface. Leave it out where it is the usual one of its kind.',
        ),
      },
    ),
  })
  .meta({
    description: 'One host, by the word that jobs name it with. Its template says where repositories are.',
  });

const gatewayExport = block('Where the gateway tells what it billed. A run with reconcile reads it.', {
  url: z.string().min(1).max(TEXT_MAX).meta({
    description: 'Address of the spend export, or os.environ/NAME. There is no export while that is unset.',
  }),
  key: secret('Key of the export as os.environ/NAME. Leave it out where none is asked for.'),
  format: oneOf(['jsonl', 'csv'], 'Form of the rows. They are JSON Lines unless it says csv.'),
});

const slots = (what: string) => count(1, SLOTS_MAX, `${what} at once in one process.`);

const engine = block(
  'The durable engine, which goes on where it was after a crash. It is in this process, or on Temporal.',
  {
    kind: oneOf(ENGINE_KINDS, 'What drives the machines.'),
    address: fitting(ADDRESS, 'Temporal server as HOST:PORT; without one, a run starts a server of its own.'),
    namespace: text('Namespace on the Temporal server.'),
    task_queue: fitting(TASK_QUEUE, 'Prefix of the task queues of this deployment.'),
    tls: tlsTo('the Temporal server'),
    api_key: secret('Key of the Temporal server as os.environ/NAME. A key means TLS.'),
    slots: block('How much of each class a worker carries out. Each counts for one process.', {
      sandbox: slots('Starts, stops and deletions of sandboxes'),
      agent: slots('Calls to agents and commands in sandboxes'),
      bookkeeping: slots('Placements, records and reports'),
      watch: slots('Looks at idle sandboxes and at agents'),
    }),
    metrics: fitting(METRICS_ADDRESS, 'Where a process shows its metrics to Prometheus, as ADDRESS:PORT.'),
    versioning: block(
      'Which build of which deployment a worker says it is. Without it, workers have no versions.',
      {
        deployment: fitting(DEPLOYMENT, 'Deployment of the workers; without one they have no versions.'),
        build_id: fitting(
          BUILD_ID,
          'Name of this build; made of version and workflows where it is left out.',
        ),
      },
    ),
    otlp_endpoint: fitting(HTTP_ADDRESS, 'Collector of OpenTelemetry that takes spans over HTTP.'),
    events_max: count(...EVENTS_MAX_RANGE, 'Events of a history before it is continued as new.'),
  },
);

/** What `parley.yaml` may hold. */
export const deploymentSchema = z.strictObject({
  engine,
  store: block(
    'Where records, workspaces and sealed secrets live. Records can be in PostgreSQL, archives and results in a bucket.',
    {
      kind: oneOf(STORE_KINDS, 'What keeps the records.'),
      path: text('Data directory, relative to this file.'),
      url: secret(
        'URL of the PostgreSQL database as os.environ/NAME. Without it PARLEY_DATABASE_URL counts.',
      ),
      pool: count(1, POOL_MAX, 'Connections of one process to PostgreSQL.'),
      statement_timeout: count(0, STATEMENT_SECONDS_MAX, 'Seconds of one statement; 0 sets no bound.'),
      tls: tlsTo('PostgreSQL'),
      blobs,
    },
  ),
  results: block('Where results are written. Each run has a folder of its own.', {
    path: text('Folder of the results, relative to this file; one folder per run.'),
  }),
  runtime,
  host,
  agent: block('What works in a sandbox. The reference agent is part of Parley.', {
    kind: oneOf(AGENT_KINDS, 'Which Agent Server runs in a sandbox.'),
    python: text('Python with the packages of OpenHands, as sandboxes see it; it counts for `openhands`.'),
    use: text('Name of the agent that speaks the Agent Client Protocol; it counts for `acp`.'),
    command: z
      .array(z.string().min(1).max(10_000))
      .min(1)
      .max(100)
      .meta({
        description: 'Program of that agent and its arguments. They take the place of those of its preset.',
      })
      .optional(),
    environment: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), z.string().max(10_000))
      .meta({ description: 'Variables of that program. They stand beside those of its preset.' })
      .optional(),
    mode: text('Mode that the sessions of that agent begin in.'),
    version: text('What that program must say of itself.'),
    iterations_max: count(1, ITERATIONS_MAX, 'Agent iterations when a job sets no limit.'),
  }),
  limits: block('Limits of every sandbox of the deployment (D10). A job cannot change them.', {
    idle_time: count(0, LIMIT_SECONDS_MAX, 'Seconds without activity until a sandbox is released; 0 never.'),
    deletion_time: count(0, LIMIT_SECONDS_MAX, 'Seconds until a released sandbox is deleted; 0 never.'),
  }),
  capacity: block('How much there may be at once. A run waits for a free slot.', {
    sandboxes: count(1, SANDBOXES_MAX, 'Sandboxes with the runtime up, in all (D17).'),
    sandboxes_per_user: count(1, SANDBOXES_MAX, 'Sandboxes with the runtime up, per user (D17).'),
    conversations_per_sandbox: count(1, CONVERSATIONS_MAX, 'Conversations attached to one sandbox (D16).'),
    on_full: oneOf(['refuse', 'queue', 'pause_longest_idle'], 'What happens when no slot is free (D17).'),
  }),
  warm_pool: block(
    'Sandboxes that are booted before anybody asks for one. They take slots of the installation.',
    {
      size: count(0, WARM_POOL_MAX, 'Sandboxes that are kept booted for whoever comes next; 0 keeps none.'),
      max_age: count(...WARM_AGE_SECONDS_RANGE, 'Seconds after which one that nobody claimed is replaced.'),
    },
  ),
  user: block('Settings of the user of this installation. A job that says something else wins.', {
    grouping: z
      .enum(GROUPING_WORDS)
      .meta({ description: 'Placement of jobs that say nothing (D16).' })
      .optional(),
    git_author: block('Author of commits, apart from any credential (D19). A job can name another.', {
      name: text('Name in commits.'),
      email: text('Address in commits.'),
    }),
  }),
  code_hosts: z
    .record(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/), codeHost)
    .meta({
      description: 'Where repositories come from, by provider (D19). Without it the public hosts are known.',
    })
    .optional(),
  proxy: block('The built-in proxy, through which agents reach models. What it serves is in proxy_config.', {
    vendor: z
      .string()
      .regex(/^[a-z][a-z0-9]{0,31}$/)
      .meta({ description: 'Product word of the built-in proxy (D1).' })
      .optional(),
    port: count(0, PORT_MAX, 'TCP port of the proxy on loopback; 0 opens none.'),
  }),
  proxy_config: z
    .looseObject({})
    .meta({ description: 'Models and settings of the built-in proxy.' })
    .optional(),
  gateway: block('The external gateway behind the proxy. What it billed is compared with what was counted.', {
    export: gatewayExport,
  }),
});

export type DeploymentDocument = z.infer<typeof deploymentSchema>;
