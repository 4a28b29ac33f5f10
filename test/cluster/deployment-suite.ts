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
import { IMAGES } from './cluster-images.ts';
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

/** Of the sandboxes of the batch, as by somebody who makes room. */
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

export function describeDeployment(form: Form): void {
  let cluster: RealCluster;
  let chart: InstalledChart;
  let folder = '';
  let laterDigest = '';
  let conversation = '';

  const inSandboxes = (...args: readonly string[]): Promise<string> =>
    cluster.kubectl(['-n', SANDBOXES, ...args]);
  const namesOf = async (kind: string): Promise<readonly string[]> =>
    (await inSandboxes('get', kind, '--output', 'name')).split('\n').filter(Boolean);
  const addressOf = async (namespace: string, name: string): Promise<string> =>
    await cluster.kubectl([
      '-n',
      namespace,
      'get',
      name,
      '--output',
      'jsonpath={.spec.clusterIP}{.status.podIP}',
    ]);
  const sandboxStatus = async () =>
    (await chart.client.getAppConversations({ query: { ids: [conversation] } }))[0]?.sandbox_status;
  const becomes = async (status: string): Promise<void> => {
    await expect.poll(sandboxStatus, { timeout: 180_000, interval: 1_000 }).toBe(status);
  };

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'cluster-')));
    cluster = await startRealCluster();
    const digests = new Map(form.images.map((name) => [name, imported(name)] as const));
    const digestOf = (name: ImageName): string => digests.get(name) ?? '';
    laterDigest = digestOf('later');
    await startGateway(cluster);
    await cluster.kubectl(['create', 'namespace', NAMESPACE]);
    await form.prepare(cluster);
    const { values, workloads } = form;
    const own = { parley: digestOf('parley'), sandbox: digestOf('sandbox') };
    chart = await installChart({ cluster, digests: own, folder, values, workloads });
  }, MS_MAX);
  afterAll(async () => {
    if (!isKept()) await cluster.close();
    removeDir(folder);
  }, MS_MAX);

  const imported = (name: ImageName): string =>
    cluster.importImage(form.archives().get(name) ?? '', IMAGES[name]);
  const step = (title: string, body: () => Promise<void>): void => void it(title, body, MS_MAX);

  step('has a conversation in a pod of its own', async () => {
    conversation = await converse(chart, 'Write a note about wells into text.md.');
    expect(await textOf(chart, conversation)).toContain(TEXT);
    expect(await namesOf('pods')).toHaveLength(1);
  });

  step('lets a sandbox reach its ways and nothing else', async () => {
    const [pod = ''] = await namesOf('pods');
    const services = { api: 3030, proxy: 4000 };
    const closed = [
      ...(await Promise.all(
        Object.entries(services).map(
          async ([name, port]) => `${await addressOf(NAMESPACE, `service/parley-${name}`)}:${port}`,
        ),
      )),
      `${await addressOf(MODELS_NAMESPACE, 'service/gateway')}:${GATEWAY_PORT}`,
      ...[`${await addressOf('default', 'service/kubernetes')}:443`, `${NODE}:6443`, `${NODE}:10250`],
      ...['10.234.0.10:53', 'gateway.models.svc.cluster.local', 'kubernetes.default.svc'],
    ];
    const routes = await addressOf(NAMESPACE, 'service/parley-routes');
    const ways = [4100, 4101, 4102].map((port) => `${routes}:${port}`);
    const targets = [...closed, ...ways];
    expect(await reachedFrom(cluster, { namespace: SANDBOXES, pod, targets })).toEqual(ways);
    // They are there, for whoever is let.
    const free = closed.filter((target) => !target.endsWith(':4000'));
    expect(
      await reachedFrom(cluster, { namespace: MODELS_NAMESPACE, pod: 'gateway-0', targets: free }),
    ).toEqual(free);
  });

  step('pauses a sandbox with its volume, and brings it back for the next message', async () => {
    const claims = await namesOf('pvc');
    const [record] = await chart.client.getAppConversations({ query: { ids: [conversation] } });
    await chart.client.pauseSandbox({ params: { sandbox_id: record?.sandbox_id ?? '' } });
    await becomes('PAUSED');
    await expect.poll(() => namesOf('pods'), { timeout: 60_000 }).toEqual([]);
    expect(await namesOf('pvc')).toEqual(claims);
    await sayMore(chart, conversation);
    expect(await textOf(chart, conversation)).toContain(TEXT);
    expect(await namesOf('pvc')).toEqual(claims);
  });

  step('stops a sandbox whose pod is evicted, and brings it back for the next message', async () => {
    const claims = await namesOf('pvc');
    const [pod = ''] = await namesOf('pods');
    const name = pod.replace('pod/', '');
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: SANDBOXES } };
    const place = `/api/v1/namespaces/${SANDBOXES}/pods/${name}/eviction`;
    await cluster.kubectl(['create', '--raw', place, '-f', '-'], JSON.stringify(body));
    await becomes('PAUSED');
    expect(await namesOf('pods')).toEqual([]);
    expect(await namesOf('pvc')).toEqual(claims);
    await sayMore(chart, conversation);
    expect(await textOf(chart, conversation)).toContain(TEXT);
  });

  step(
    'succeeds with every conversation of a batch while everything around it is restarted and killed',
    async () => {
      const billedBefore = await billOf(cluster);
      const before = await namesOf('pods');
      const copy = path.join(folder, 'batch');
      cpSync(EXAMPLE, copy, { recursive: true });
      const args = ['run', 'job.yaml', '--json', '--run-id', RUN_ID, '--limit', String(CONVERSATIONS)];
      const waiting = parley([...args, '--server', chart.url], {
        cwd: copy,
        env: { PARLEY_API_KEY: chart.apiKey },
      });
      let isOver = false;
      void waiting.finally(() => (isOver = true));
      const inFlight = (): Promise<boolean> =>
        chart.client.getRun({ params: { run_id: RUN_ID } }).then(
          ({ in_flight: some }) => some > 0,
          () => isOver,
        );
      await expect.poll(inFlight, { timeout: 120_000, interval: 500 }).toBe(true);
      await expect
        .poll(async () => (await namesOf('pods')).length, { timeout: 120_000 })
        .toBeGreaterThan(before.length);
      const atWork = (await namesOf('pods')).filter((name) => !before.includes(name));
      await inSandboxes('delete', '--wait=false', ...atWork.slice(0, PODS_REMOVED));
      const done: string[] = [];
      for (const workload of [...form.workloads, ...form.others]) {
        done.push(`${workload.name} ${isOver ? 'after' : 'during'}`);
        await restart(cluster, workload);
        await kill(cluster, workload);
      }
      const end = await waiting;
      expect(end.exitCode, `${end.stdout.slice(-2_000)}\n${end.stderr}\n${done.join(', ')}`).toBe(0);
      expect(done[0]).toMatch(/ during$/);
      const run = await chart.client.getRun({ params: { run_id: RUN_ID } });
      expect(run).toMatchObject({ phase: 'finished', total: CONVERSATIONS });
      expect(run.ended).toEqual({ succeeded: CONVERSATIONS });
      const bill = await billOf(cluster);
      const rows = await rowsOf(chart);
      const billedById = new Map(bill.map((one) => [one.request_id, Number(sumOf([one]))]));
      const priced = rows.filter(({ cost }) => cost !== null);
      for (const { responseId, cost } of priced) expect(billedById.get(responseId ?? '')).toBe(cost);
      // Of a call that was under way when its proxy was killed there is a row, and nobody there heard what it cost.
      const unheard = rows.filter(({ state }) => state === 'interrupted');
      expect(rows).toHaveLength(priced.length + unheard.length);
      expect(bill.length - priced.length).toBeLessThanOrEqual(unheard.length);
      const billed = Number(sumOf(bill.slice(billedBefore.length)));
      expect(run.spent_nano_usd).toBeLessThanOrEqual(billed);
      const lost = (unheard.length + LOST_MAX) * Math.max(...billedById.values());
      expect(run.spent_nano_usd).toBeGreaterThanOrEqual(billed - lost);
    },
  );

  step('is upgraded to another build, and has its conversation and sandbox still', async () => {
    await chart.upgrade({ digest: laterDigest });
    const image = await chart.kubectl(
      'get',
      'pods',
      '--output',
      'jsonpath={.items[*].spec.containers[0].image}',
    );
    for (const one of image.split(' ')) expect(one).toContain(laterDigest);
    expect(await textOf(chart, conversation)).toContain(TEXT);
    await sayMore(chart, conversation);
  });

  step('lets its node be drained, and goes on once there is one again', async () => {
    const claims = await namesOf('pvc');
    const options = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=300s'];
    await cluster.kubectl(['drain', 'node-1', ...options]);
    expect(await namesOf('pods')).toEqual([]);
    await cluster.kubectl(['uncordon', 'node-1']);
    await chart.rolledOut();
    await becomes('PAUSED');
    expect(await namesOf('pvc')).toEqual(claims);
    await sayMore(chart, conversation);
    expect(await textOf(chart, conversation)).toContain(TEXT);
    await chart.client.deleteAppConversation({ params: { conversation_id: conversation } });
    await expect.poll(() => namesOf('pvc'), { timeout: 180_000 }).toEqual([]);
  });
}
