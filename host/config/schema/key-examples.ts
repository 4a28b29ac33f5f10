/**
 * An example of each key of `parley.yaml` whose default shows nothing, for editors.
 * Owns the examples; a test sees to it that each is valid and that no key is without one.
 */

type Example = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;

/** Dotted path, `*` for a name of the user. */
export const KEY_EXAMPLES: Readonly<Record<string, Example>> = {
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
