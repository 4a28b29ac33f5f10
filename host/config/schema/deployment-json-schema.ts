/**
 * The JSON Schema (draft-07) of `parley.yaml` that editors use for completion and hovers.
 * Owns what is added to the schema that checks the file: defaults, examples, and what a hover says.
 */
import { z } from 'zod';
import { DURATION_PATTERN } from '../../../dsl/duration.ts';
import { withoutRuleNumbers } from '../../../dsl/reference/editor-schema.ts';
import { deploymentSchema } from './deployment-schema.ts';
import { PROXY_CONFIG_SCHEMA } from '../blocks/proxy-keys.ts';
import { IN_SECONDS } from './seconds.ts';
import { SETTINGS, type Setting } from '../settings.ts';

/** A length of time as a job writes it. */
const DURATION = { type: 'string', pattern: DURATION_PATTERN.source };

type Json = Readonly<Record<string, unknown>>;

export function deploymentJsonSchema(): Json {
  return completed(z.toJSONSchema(deploymentSchema, { target: 'draft-7', io: 'input' }), []);
}

function completed(part: Json, at: readonly string[]): Json {
  if (at.join('.') === 'proxy_config') return PROXY_CONFIG_SCHEMA;
  const { properties, additionalProperties, description, ...rest } = part as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly additionalProperties?: unknown;
    readonly description?: string;
  };
  const setting = SETTINGS.find(({ path }) => path === at.join('.')) as Setting | undefined;
  return {
    ...(description === undefined ? {} : { description: hoverText(description, setting) }),
    ...(IN_SECONDS.has(at.join('.')) ? { anyOf: [rest, DURATION] } : rest),
    ...valuesOf(at.join('.'), setting),
    ...(properties === undefined ? {} : { properties: below(properties, at) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties: isSchema(additionalProperties)
            ? completed(additionalProperties, [...at, '*'])
            : additionalProperties,
        }),
  };
}

function below(properties: Readonly<Record<string, Json>>, at: readonly string[]): Json {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, completed(value, [...at, key])]),
  );
}

/** What it is, and what else can set it. */
function hoverText(description: string, setting: Setting | undefined): string {
  const plain = withoutRuleNumbers(description);
  return setting === undefined ? plain : `${plain} The variable ${setting.env} wins over it.`;
}

function valuesOf(path: string, setting: Setting | undefined): Json {
  // An empty default stands for none.
  const standard = setting === undefined || setting.fallback === '' ? undefined : setting.fallback;
  const example = KEY_EXAMPLES[path] ?? standard;
  return {
    ...(standard === undefined ? {} : { default: standard }),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

/**
 * An example of each key of `parley.yaml` whose default shows nothing, for editors.
 * Owns the examples; a test sees to it that each is valid and that no key is without one.
 */

type Example = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;

/** Dotted path, `*` for a name of the user. */
const KEY_EXAMPLES: Readonly<Record<string, Example>> = {
  'engine.address': '127.0.0.1:7233',
  'engine.tls.ca': 'tls/ca.pem',
  'engine.tls.cert': 'tls/client.pem',
  'engine.tls.key': 'tls/client.key',
  'engine.tls.server_name': 'temporal.example.com',
  'engine.api_key': 'os.environ/TEMPORAL_API_KEY',
  'engine.metrics': '127.0.0.1:9464',
  'engine.versioning.deployment': 'parley',
  'engine.versioning.build_id': '2026-11-25.1',
  'engine.otlp_endpoint': 'http://127.0.0.1:4318',
  'store.url': 'os.environ/PARLEY_DATABASE_URL',
  'store.tls.ca': 'tls/ca.pem',
  'store.tls.cert': 'tls/client.pem',
  'store.tls.key': 'tls/client.key',
  'store.tls.server_name': 'postgres.example.com',
  'store.blobs.s3.bucket': 'parley-results',
  'store.blobs.s3.endpoint': 'https://minio.example.com:9000',
  'store.blobs.s3.region': 'eu-central-1',
  'store.blobs.s3.prefix': 'teams/platform',
  'store.blobs.s3.path_style': true,
  'store.blobs.s3.encryption': 'aws:kms',
  'store.blobs.s3.kms_key_id': 'alias/parley',
  'store.blobs.s3.access_key_id': 'os.environ/PARLEY_S3_KEY_ID',
  'store.blobs.s3.secret_access_key': 'os.environ/PARLEY_S3_SECRET',
  'host.name': 'build-7',
  'host.labels': { gpu: 'a100' },
  'host.relay': 'build-7.example.com:7443',
  'runtime.egress.ca': 'authorities.pem',
  'runtime.kubernetes.kubeconfig': 'kube/config',
  'runtime.kubernetes.context': 'staging',
  'runtime.kubernetes.image': `registry.example.com/parley-sandbox@sha256:${'0'.repeat(64)}`,
  'runtime.kubernetes.pull_secret': 'registry',
  'runtime.kubernetes.storage_class': 'standard',
  'runtime.kubernetes.runtime_class': 'gvisor',
  'runtime.kubernetes.pod_security': 'restricted',
  'runtime.limits.cpu_percent': 200,
  'runtime.shared_folders': ['/opt/agents'],
  'runtime.egress.allow': ['packages.example.com', '*.example.com:8443'],
  'warm_pool.size': 3,
  'agent.use': 'opencode',
  'agent.command': ['my-agent', '--acp'],
  'agent.environment': { MY_AGENT_BASE_URL: '${LLM_BASE_URL}' },
  'agent.mode': 'build',
  'agent.version': '1.18.33',
  'code_hosts.*.url': 'https://git.example.com/{owner}/{repo}.git',
  'code_hosts.*.default': true,
  'code_hosts.*.token': 'os.environ/GIT_TOKEN',
  'code_hosts.*.api.kind': 'gitea',
  'code_hosts.*.api.url': 'https://git.example.com/api/v1',
  'proxy.port': 4000,
  'gateway.export.url': 'https://gateway.example.com/spend/export',
  'gateway.export.key': 'os.environ/PARLEY_GATEWAY_KEY',
  'gateway.export.format': 'jsonl',
};
