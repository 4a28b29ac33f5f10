/**
 * The chart on a cluster as docs/chart.md installs it.
 * Owns the secrets that an administrator makes and the values; must not assert.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { createClient, type Client } from '../../api/client/client.ts';
import { installedHelm } from '../../scripts/helm-tool.js';
import type { RealCluster } from '../../scripts/real-cluster/real-cluster.ts';
import { printedBlocks } from '../helpers/printed-commands.ts';
import { IMAGES } from './cluster-images.ts';
import { GATEWAY_HOST, GATEWAY_KEYS, GATEWAY_PORT, MODELS_NAMESPACE } from './model-gateway.ts';
import { rolledOut } from './workload.ts';
import type { Workload } from './workload.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
export const RELEASE = 'parley';
export const NAMESPACE = 'parley';
export const SANDBOXES = 'parley-sandboxes';
const WAIT = '300s';
const run = promisify(execFile);

/** One of the chart's own. */
export const workloadOf = (kind: 'statefulset' | 'deployment', component: string): Workload => ({
  namespace: NAMESPACE,
  name: `${kind}/${RELEASE}-${component}`,
  pods: `app.kubernetes.io/component=${component}`,
});

/** Of an image → under which pods find it. */
export type Digests = Readonly<Record<'parley' | 'sandbox', string>>;

export interface ChartOrder {
  readonly cluster: RealCluster;
  readonly digests: Digests;
  /** For files of its own. */
  readonly folder: string;
  /** Of the values, beside those that every form has. */
  readonly values?: object;
  /** What of it has to be ready. */
  readonly workloads: readonly Workload[];
}

export class InstalledChart {
  readonly cluster: RealCluster;
  readonly url: string;
  readonly apiKey: string;
  readonly #order: ChartOrder;

  constructor(order: ChartOrder, { url, apiKey }: { readonly url: string; readonly apiKey: string }) {
    this.#order = order;
    this.cluster = order.cluster;
    this.url = url;
    this.apiKey = apiKey;
  }

  get client(): Client {
    return createClient({ url: this.url, key: this.apiKey });
  }

  async kubectl(...args: readonly string[]): Promise<string> {
    return await this.cluster.kubectl(['-n', NAMESPACE, ...args]);
  }

  /** `helm upgrade` with that image or those values besides, until all is rolled out. */
  async upgrade(changes: { readonly digest?: string; readonly values?: object }): Promise<void> {
    const { digests, values = {} } = this.#order;
    const order = {
      ...this.#order,
      digests: { ...digests, parley: changes.digest ?? digests.parley },
      values: { ...values, ...changes.values },
    };
    await upgrade(order);
    await this.rolledOut();
  }

  async rolledOut(): Promise<void> {
    for (const workload of this.#order.workloads) await rolledOut(this.cluster, workload);
  }
}

/** `helm install`, the engine's key, and the first key of the API. */
export async function installChart(order: ChartOrder): Promise<InstalledChart> {
  const { cluster } = order;
  const kubectl = (...args: readonly string[]): Promise<string> =>
    cluster.kubectl(['-n', NAMESPACE, ...args]);
  const literals = Object.entries(GATEWAY_KEYS).map(([name, value]) => `--from-literal=${name}=${value}`);
  await kubectl('create', 'secret', 'generic', 'model-gateway', ...literals);
  writeValues(order);
  await asPrinted(order, 'helm install ');
  await rolledOut(cluster, workloadOf('statefulset', 'proxy'));
  const literal = `--from-literal=key=${await makeEngineKey(cluster)}`;
  await kubectl('create', 'secret', 'generic', 'parley-engine-key', literal);
  for (const workload of order.workloads) await rolledOut(cluster, workload);
  const apiKey = await asPrinted(order, 'kubectl --namespace parley get secret ');
  const place = 'jsonpath={.spec.clusterIP}:{.spec.ports[0].port}';
  const address = await kubectl('get', 'service', 'parley-api', '--output', place);
  return new InstalledChart(order, { url: `http://${address}`, apiKey });
}

/** A call as the proxy keeps it. */
export interface SpendRow {
  readonly state: string;
  readonly responseId: string | null;
  /** Nano-USD. */
  readonly cost: number | null;
}

/** All that the proxy has, asked for with its master key from within its own pod. */
export async function rowsOf(chart: InstalledChart): Promise<readonly SpendRow[]> {
  const script = `fetch('http://127.0.0.1:4000/spend/logs', {
    headers: { authorization: 'Bearer ' + process.env.PROXY_MASTER_KEY },
  }).then((r) => r.text()).then(console.log)`;
  const text = await chart.kubectl('exec', 'parley-proxy-0', '--', 'node', '-e', script);
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as SpendRow);
}

/** Where the documented commands are typed: beside the folder of the chart. */
function writeValues(order: ChartOrder): void {
  writeFileSync(path.join(order.folder, 'values.yaml'), stringify(valuesOf(order)));
  const chart = path.join(order.folder, 'chart');
  if (!existsSync(chart)) symlinkSync(path.join(ROOT, 'chart'), chart);
}

async function upgrade(order: ChartOrder): Promise<void> {
  writeValues(order);
  const where = ['--namespace', NAMESPACE, '--values', 'values.yaml', '--timeout', WAIT];
  await run('helm', ['upgrade', RELEASE, 'chart', ...where], shellOf(order));
}

/** Types the command of docs/chart.md that begins so, and answers what it prints. */
async function asPrinted(order: ChartOrder, beginning: string): Promise<string> {
  const text = readFileSync(path.join(ROOT, 'docs/chart.md'), 'utf8');
  const command = printedBlocks(text)
    .flatMap((block) => block.split('\n'))
    .find((line) => line.startsWith(beginning));
  if (command === undefined) throw new Error(`docs/chart.md has no command that begins with "${beginning}"`);
  const { stdout } = await run('sh', ['-c', command], shellOf(order));
  console.log(`$ ${command}\n${beginning.startsWith('kubectl') ? '(a key)' : stdout}`);
  return stdout;
}

function shellOf({ cluster, folder }: ChartOrder) {
  const program = installedHelm(process.env);
  if (program === null) throw new Error('Cannot install the chart: Helm is not installed');
  const PATH = `${path.dirname(program)}${path.delimiter}${process.env['PATH'] ?? ''}`;
  return { cwd: folder, env: { ...process.env, PATH, KUBECONFIG: cluster.kubeconfig } };
}

/** As docs/proxy.md says it, from within the proxy's own pod. */
async function makeEngineKey({ kubectl }: RealCluster): Promise<string> {
  const script = `fetch('http://127.0.0.1:4000/key/generate', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.PROXY_MASTER_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ key_alias: 'engine' }),
  }).then((r) => r.json()).then(({ key }) => console.log(key))`;
  return (await kubectl(['-n', NAMESPACE, 'exec', 'parley-proxy-0', '--', 'node', '-e', script])).trim();
}

/** Little is asked for, so that many sandboxes fit beside the rest. */
const SMALL = {
  resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { cpu: '2', memory: '1Gi' } },
};

function valuesOf({ digests, values = {} }: ChartOrder): object {
  const nameOf = (image: string): string => image.slice(0, image.lastIndexOf(':'));
  const models = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': MODELS_NAMESPACE } } };
  const prices = { input_cost_per_token: '0.0000002625', output_cost_per_token: '0.0000012875' };
  const address = `http://${GATEWAY_HOST}:${GATEWAY_PORT}/v1`;
  const params = { model: 'openai/acme/writer-1', api_base: address, api_key: 'os.environ/GATEWAY_KEY' };
  return {
    image: { repository: nameOf(IMAGES.parley), digest: digests.parley },
    sandboxes: {
      image: `${nameOf(IMAGES.sandbox)}@${digests.sandbox}`,
      requests: { memoryMb: 64, cpuPercent: 2 },
      limits: { memoryMb: 1024, cpuPercent: 100, diskMb: 512, fileMb: 256 },
    },
    ...{ api: SMALL, worker: SMALL, jobs: SMALL },
    proxy: { ...SMALL, gateway: [{ ports: [{ protocol: 'TCP', port: GATEWAY_PORT }], to: [models] }] },
    proxy_config: { model_list: [{ model_name: 'writer', proxyvendor_params: { ...params, ...prices } }] },
    ...values,
  };
}
