/**
 * The chart on a cluster as docs/chart.md installs it, beside a gateway that answers from the script of
 * examples/three-hundred.
 * Owns the gateway's pod, the secrets that an administrator makes, and the values; must not assert.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { createClient, type Client } from '../../api/client/client.ts';
import { installedHelm } from '../../scripts/helm-tool.js';
import type { RealCluster } from '../../scripts/real-cluster/real-cluster.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { IMAGES } from './cluster-images.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const SCRIPT = path.join(ROOT, 'examples/three-hundred/gateway.yaml');
const GATEWAY_PORT = 4010;
const LEDGER = '/tmp/ledger.jsonl';
const KEYS = { PROXY_MASTER_KEY: 'sk-made-up-master', GATEWAY_KEY: 'sk-made-up' };
const WAIT = '300s';
const run = promisify(execFile);

export interface Installed {
  readonly client: Client;
  /** Lines that the gateway wrote for its bill. */
  bill(): Promise<string>;
}

/** With the embedded engine: `helm install`, the engine's key, and the first key of the API. */
export async function installChart(
  cluster: RealCluster,
  digests: Readonly<Record<keyof typeof IMAGES, string>>,
): Promise<Installed> {
  const { kubectl } = cluster;
  await kubectl(['create', 'namespace', 'models']);
  await kubectl(['create', 'namespace', 'parley']);
  await kubectl(['apply', '-f', '-'], JSON.stringify(gatewayObjects()));
  const literals = Object.entries(KEYS).map(([name, value]) => `--from-literal=${name}=${value}`);
  await kubectl(['-n', 'parley', 'create', 'secret', 'generic', 'model-gateway', ...literals]);
  const values = path.join(tempDir(), 'values.yaml');
  writeFileSync(values, stringify(valuesOf(digests)));
  const helm = installedHelm(process.env);
  if (helm === null) throw new Error('Cannot install the chart: Helm is not installed');
  const words = ['install', 'parley', 'chart', '--namespace', 'parley', '--create-namespace'];
  await run(helm, [...words, '--values', values, '--kubeconfig', cluster.kubeconfig], { cwd: ROOT });
  await kubectl(['-n', 'parley', 'rollout', 'status', 'statefulset/parley-proxy', `--timeout=${WAIT}`]);
  const key = await makeEngineKey(cluster);
  const secret = ['secret', 'generic', 'parley-engine-key', `--from-literal=key=${key}`];
  await kubectl(['-n', 'parley', 'create', ...secret]);
  await kubectl(['-n', 'parley', 'rollout', 'status', 'statefulset/parley-api', `--timeout=${WAIT}`]);
  const first = ['get', 'secret', 'parley-first-key', '--output', 'jsonpath={.data.api-key}'];
  const apiKey = Buffer.from(await kubectl(['-n', 'parley', ...first]), 'base64').toString();
  const service = [
    'get',
    'service',
    'parley-api',
    '--output',
    'jsonpath={.spec.clusterIP}:{.spec.ports[0].port}',
  ];
  const address = await kubectl(['-n', 'parley', ...service]);
  return {
    client: createClient({ url: `http://${address}`, key: apiKey }),
    bill: () => kubectl(['-n', 'models', 'exec', 'gateway', '--', 'cat', LEDGER]),
  };
}

/** As docs/proxy.md says it, from within the proxy's own pod. */
async function makeEngineKey({ kubectl }: RealCluster): Promise<string> {
  const script = `fetch('http://127.0.0.1:4000/key/generate', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.PROXY_MASTER_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ key_alias: 'engine' }),
  }).then((r) => r.json()).then(({ key }) => console.log(key))`;
  return (await kubectl(['-n', 'parley', 'exec', 'parley-proxy-0', '--', 'node', '-e', script])).trim();
}

function gatewayObjects(): object {
  const metadata = { name: 'gateway', namespace: 'models', labels: { app: 'gateway' } };
  const program = '/opt/parley/dist/scripted-gateway.js';
  const args = ['/script/gateway.yaml', '--host', '0.0.0.0', '--port', String(GATEWAY_PORT)];
  const container = {
    ...{
      name: 'main',
      image: IMAGES.parley,
      command: ['node', program],
      args: [...args, '--ledger', LEDGER],
    },
    env: [{ name: 'PARLEY_GATEWAY_KEY', value: KEYS.GATEWAY_KEY }],
    volumeMounts: [{ name: 'script', mountPath: '/script' }],
  };
  const volumes = [{ name: 'script', configMap: { name: 'gateway' } }];
  const ports = [{ port: GATEWAY_PORT }];
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata,
        data: { 'gateway.yaml': readFileSync(SCRIPT, 'utf8') },
      },
      { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container], volumes } },
      { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: metadata.labels, ports } },
    ],
  };
}

function valuesOf(digests: Readonly<Record<keyof typeof IMAGES, string>>): object {
  const nameOf = (image: string): string => image.slice(0, image.lastIndexOf(':'));
  const models = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'models' } } };
  const prices = { input_cost_per_token: '0.0000002625', output_cost_per_token: '0.0000012875' };
  const address = `http://gateway.models.svc.cluster.local:${GATEWAY_PORT}/v1`;
  const params = { model: 'openai/acme/writer-1', api_base: address, api_key: 'os.environ/GATEWAY_KEY' };
  return {
    image: { repository: nameOf(IMAGES.parley), digest: digests.parley },
    sandboxes: {
      image: `${nameOf(IMAGES.sandbox)}@${digests.sandbox}`,
      requests: { memoryMb: 64, cpuPercent: 2 },
      limits: { memoryMb: 1024, cpuPercent: 100, diskMb: 512, fileMb: 256 },
    },
    proxy: { gateway: [{ ports: [{ protocol: 'TCP', port: GATEWAY_PORT }], to: [models] }] },
    proxy_config: { model_list: [{ model_name: 'writer', proxyvendor_params: { ...params, ...prices } }] },
  };
}
