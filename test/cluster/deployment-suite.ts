/**
 * What a deployment of the chart does on a real cluster, in whichever form: conversations in pods, policies that hold,
 * volumes that outlive their pods, a batch while everything around it is restarted and killed, an upgrade and a drain.
 * Owns the cases; a form brings its values and what it stands on.
 */
import { cpSync, mkdtempSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isKept } from '../../scripts/real-cluster/machine.ts';
import { startRealCluster } from '../../scripts/real-cluster/real-cluster.ts';
import type { RealCluster } from '../../scripts/real-cluster/real-cluster.ts';
import { parley } from '../cli/parley-program.ts';
import { sumOf } from '../e2e/ledger.ts';
import { removeDir } from '../helpers/temp-dir.ts';
import { converse, sayMore, TEXT, textOf } from '../images/compose-conversation.ts';
import { IMAGES, LATER } from './cluster-images.ts';
import type { Archives, ImageName } from './cluster-images.ts';
import { installChart, NAMESPACE, rowsOf, SANDBOXES } from './installed-chart.ts';
import type { InstalledChart } from './installed-chart.ts';
import { billOf, GATEWAY_PORT, MODELS_NAMESPACE, startGateway } from './model-gateway.ts';
import { reachedFrom } from './probes.ts';
import { kill, restart } from './workload.ts';
import type { Workload } from './workload.ts';

const MS_MAX = 1_800_000;
const EXAMPLE = path.resolve(import.meta.dirname, '../../examples/three-hundred');
/** A whole run has so many; PARLEY_CLUSTER_BATCH=50 has more, and lasts accordingly. */
const CONVERSATIONS = Number(process.env['PARLEY_CLUSTER_BATCH'] ?? '12');
const RUN_ID = 'shipped';
/** Of the node, as the machine of a cluster has it. */
const NODE = '10.233.0.1';

/** Of the sandboxes of the batch, as by an administrator who makes room. */
const PODS_REMOVED = 2;

/** Calls under way in the maker of sandboxes when it is killed, at most. */
const LOST_MAX = 6;

export interface Form {
  /** Once they are built. */
  archives(): Archives;
  readonly images: readonly ImageName[];
  readonly values: object;
  /** Of the chart, in the order in which they are restarted and killed. */
  readonly workloads: readonly Workload[];
  /** What it stands on, restarted and killed after them. */
  readonly others: readonly Workload[];
  /** Starts what it stands on, and makes the secrets that its values name. */
  prepare(cluster: RealCluster): Promise<void>;
}

type Step = (title: string, body: () => Promise<void>) => void;

/** A deployment of one form, and what the cases need of its cluster. */
class Stage {
  readonly form: Form;
  folder = '';
  laterDigest = '';
  conversation = '';
  #cluster: RealCluster | null = null;
  #chart: InstalledChart | null = null;

  constructor(form: Form) {
    this.form = form;
  }

  get cluster(): RealCluster {
    if (this.#cluster === null) throw new Error('Cannot ask the cluster: it has not started');
    return this.#cluster;
  }

  get chart(): InstalledChart {
    if (this.#chart === null) throw new Error('Cannot ask the chart: it is not installed');
    return this.#chart;
  }

  async start(): Promise<void> {
    const { images, values, workloads } = this.form;
    this.folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'cluster-')));
    const cluster = (this.#cluster = await startRealCluster());
    const imported = (name: ImageName): string =>
      cluster.importImage(this.form.archives().get(name) ?? '', IMAGES[name]);
    const digests = new Map(images.map((name) => [name, imported(name)] as const));
    const digestOf = (name: ImageName): string => digests.get(name) ?? '';
    this.laterDigest = digestOf('later');
    await startGateway(cluster);
    await cluster.kubectl(['create', 'namespace', NAMESPACE]);
    await this.form.prepare(cluster);
    const own = { parley: digestOf('parley'), sandbox: digestOf('sandbox') };
    this.#chart = await installChart({ cluster, digests: own, folder: this.folder, values, workloads });
  }

  async close(): Promise<void> {
    if (!isKept()) await this.#cluster?.close();
    removeDir(this.folder);
  }

  async inSandboxes(...args: readonly string[]): Promise<string> {
    return await this.cluster.kubectl(['-n', SANDBOXES, ...args]);
  }

  async namesOf(kind: string): Promise<readonly string[]> {
    return (await this.inSandboxes('get', kind, '--output', 'name')).split('\n').filter(Boolean);
  }

  async addressOf(namespace: string, name: string): Promise<string> {
    const format = 'jsonpath={.spec.clusterIP}{.status.podIP}';
    return await this.cluster.kubectl(['-n', namespace, 'get', name, '--output', format]);
  }

  async becomes(status: string): Promise<void> {
    const query = { ids: [this.conversation] };
    const now = async () => (await this.chart.client.getAppConversations({ query }))[0]?.sandbox_status;
    await expect.poll(now, { timeout: 180_000, interval: 1_000 }).toBe(status);
  }
}

export function describeDeployment(form: Form): void {
  const stage = new Stage(form);
  beforeAll(() => stage.start(), MS_MAX);
  afterAll(() => stage.close(), MS_MAX);
  const step: Step = (title, body) => void it(title, body, MS_MAX);
  describeSandboxes(stage, step);
  describeBatch(stage, step);
  describeChanges(stage, step);
}

function describeSandboxes(stage: Stage, step: Step): void {
  step('has a conversation in a pod of its own', async () => {
    stage.conversation = await converse(stage.chart, 'Write a note about wells into text.md.');
    expect(await textOf(stage.chart, stage.conversation)).toContain(TEXT);
    expect(await stage.namesOf('pods')).toHaveLength(1);
  });

  step('lets a sandbox reach its ways and nothing else', async () => {
    const [pod = ''] = await stage.namesOf('pods');
    const services = { api: 3030, proxy: 4000 };
    const closed = [
      ...(await Promise.all(
        Object.entries(services).map(
          async ([name, port]) => `${await stage.addressOf(NAMESPACE, `service/parley-${name}`)}:${port}`,
        ),
      )),
      `${await stage.addressOf(MODELS_NAMESPACE, 'service/gateway')}:${GATEWAY_PORT}`,
      ...[`${await stage.addressOf('default', 'service/kubernetes')}:443`, `${NODE}:6443`, `${NODE}:10250`],
      ...['10.234.0.10:53', 'gateway.models.svc.cluster.local', 'kubernetes.default.svc'],
    ];
    const routes = await stage.addressOf(NAMESPACE, 'service/parley-routes');
    const ways = [4100, 4101, 4102].map((port) => `${routes}:${port}`);
    const targets = [...closed, ...ways];
    expect(await reachedFrom(stage.cluster, { namespace: SANDBOXES, pod, targets })).toEqual(ways);
    // They exist, and an allowed pod reaches them.
    const free = closed.filter((target) => !target.endsWith(':4000'));
    expect(
      await reachedFrom(stage.cluster, { namespace: MODELS_NAMESPACE, pod: 'gateway-0', targets: free }),
    ).toEqual(free);
  });

  step('pauses a sandbox with its volume, and brings it back for the next message', async () => {
    const claims = await stage.namesOf('pvc');
    const [record] = await stage.chart.client.getAppConversations({ query: { ids: [stage.conversation] } });
    await stage.chart.client.pauseSandbox({ params: { sandbox_id: record?.sandbox_id ?? '' } });
    await stage.becomes('PAUSED');
    await expect.poll(() => stage.namesOf('pods'), { timeout: 60_000 }).toEqual([]);
    expect(await stage.namesOf('pvc')).toEqual(claims);
    await sayMore(stage.chart, stage.conversation);
    expect(await textOf(stage.chart, stage.conversation)).toContain(TEXT);
    expect(await stage.namesOf('pvc')).toEqual(claims);
  });

  step('stops a sandbox whose pod is evicted, and brings it back for the next message', async () => {
    const claims = await stage.namesOf('pvc');
    const [pod = ''] = await stage.namesOf('pods');
    const name = pod.replace('pod/', '');
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: SANDBOXES } };
    const place = `/api/v1/namespaces/${SANDBOXES}/pods/${name}/eviction`;
    await stage.cluster.kubectl(['create', '--raw', place, '-f', '-'], JSON.stringify(body));
    await stage.becomes('PAUSED');
    expect(await stage.namesOf('pods')).toEqual([]);
    expect(await stage.namesOf('pvc')).toEqual(claims);
    await sayMore(stage.chart, stage.conversation);
    expect(await textOf(stage.chart, stage.conversation)).toContain(TEXT);
  });
}

function describeBatch(stage: Stage, step: Step): void {
  step(
    'succeeds with every conversation of a batch while everything around it is restarted and killed',
    async () => {
      const rowsBefore = await rowsOf(stage.chart);
      const before = await stage.namesOf('pods');
      const copy = path.join(stage.folder, 'batch');
      cpSync(EXAMPLE, copy, { recursive: true });
      const args = ['run', 'job.yaml', '--json', '--run-id', RUN_ID, '--limit', String(CONVERSATIONS)];
      const waiting = parley([...args, '--server', stage.chart.url], {
        cwd: copy,
        env: { PARLEY_API_KEY: stage.chart.apiKey },
      });
      let isOver = false;
      void waiting.finally(() => (isOver = true));
      const inFlight = (): Promise<boolean> =>
        stage.chart.client.getRun({ params: { run_id: RUN_ID } }).then(
          ({ in_flight: some }) => some > 0,
          () => isOver,
        );
      await expect.poll(inFlight, { timeout: 120_000, interval: 500 }).toBe(true);
      await expect
        .poll(async () => (await stage.namesOf('pods')).length, { timeout: 120_000 })
        .toBeGreaterThan(before.length);
      const atWork = (await stage.namesOf('pods')).filter((name) => !before.includes(name));
      await stage.inSandboxes('delete', '--wait=false', ...atWork.slice(0, PODS_REMOVED));
      const done: string[] = [];
      for (const workload of [...stage.form.workloads, ...stage.form.others]) {
        done.push(`${workload.name} ${isOver ? 'after' : 'during'}`);
        await restart(stage.cluster, workload);
        await kill(stage.cluster, workload);
      }
      const end = await waiting;
      expect(end.exitCode, `${end.stdout.slice(-2_000)}\n${end.stderr}\n${done.join(', ')}`).toBe(0);
      expect(done[0]).toMatch(/ during$/);
      const run = await stage.chart.client.getRun({ params: { run_id: RUN_ID } });
      expect(run).toMatchObject({ phase: 'finished', total: CONVERSATIONS });
      expect(run.ended).toEqual({ succeeded: CONVERSATIONS });
      const bill = await billOf(stage.cluster);
      const rows = await rowsOf(stage.chart);
      const billedById = new Map(bill.map((one) => [one.request_id, Number(sumOf([one]))]));
      const priced = rows.filter(({ cost }) => cost !== null);
      for (const { responseId, cost } of priced) expect(billedById.get(responseId ?? '')).toBe(cost);
      // A call whose gateway, proxy or sandbox went away under it has a row, but no answer reported its cost.
      const unheard = rows.filter(({ cost }) => cost === null);
      expect(unheard.filter(({ state }) => state === 'succeeded')).toEqual([]);
      expect(bill.length - priced.length).toBeLessThanOrEqual(unheard.length);
      const sum = (some: readonly { readonly cost: number | null }[]): number =>
        some.reduce((all, { cost }) => all + (cost ?? 0), 0);
      // A call that ended after its attempt was given up has its price in its row, and reconciliation finds it.
      const spent = sum(rows) - sum(rowsBefore);
      expect(run.spent_nano_usd).toBeLessThanOrEqual(spent);
      expect(run.spent_nano_usd).toBeGreaterThanOrEqual(spent - LOST_MAX * Math.max(...billedById.values()));
    },
  );
}

function describeChanges(stage: Stage, step: Step): void {
  step('is upgraded to another build, and has its conversation and sandbox still', async () => {
    await stage.chart.upgrade({ digest: stage.laterDigest });
    // A pod of before may still be about to end when the new one serves.
    const format = 'jsonpath={.items[*].spec.containers[0].image}';
    const others = async (): Promise<readonly string[]> =>
      (await stage.chart.kubectl('get', 'pods', '--output', format))
        .split(' ')
        .filter((image) => !image.includes(stage.laterDigest));
    await expect.poll(others, { timeout: 120_000, interval: 500 }).toEqual([]);
    for (const { namespace, name } of stage.form.workloads) {
      const version = ['-n', namespace, 'exec', name, '--', 'parley', '--version'];
      expect(await stage.cluster.kubectl(version), name).toContain(`commit ${LATER.slice(0, 12)}`);
    }
    expect(await textOf(stage.chart, stage.conversation)).toContain(TEXT);
    await sayMore(stage.chart, stage.conversation);
  });

  step('lets its node be drained, and goes on once there is one again', async () => {
    const claims = await stage.namesOf('pvc');
    const options = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=300s'];
    await stage.cluster.kubectl(['drain', 'node-1', ...options]);
    expect(await stage.namesOf('pods')).toEqual([]);
    await stage.cluster.kubectl(['uncordon', 'node-1']);
    await stage.chart.rolledOut();
    await stage.becomes('PAUSED');
    expect(await stage.namesOf('pvc')).toEqual(claims);
    await sayMore(stage.chart, stage.conversation);
    expect(await textOf(stage.chart, stage.conversation)).toContain(TEXT);
    await stage.chart.client.deleteAppConversation({ params: { conversation_id: stage.conversation } });
    await expect.poll(() => stage.namesOf('pvc'), { timeout: 180_000 }).toEqual([]);
  });
}
