/**
 * The chart on a real cluster, installed as docs/chart.md prints it: a conversation in a pod, its pause with the volume,
 * and a pod that is evicted.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startRealCluster } from '../../scripts/real-cluster/real-cluster.ts';
import type { RealCluster } from '../../scripts/real-cluster/real-cluster.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { converse, sayMore, TEXT, textOf } from '../images/compose-conversation.ts';
import { buildImages, IMAGES } from './cluster-images.ts';
import { installChart } from './installed-chart.ts';
import type { Installed } from './installed-chart.ts';

const MS_MAX = 1_800_000;
const SANDBOXES = 'parley-sandboxes';

describeWith('helm', 'the chart', () => describeWith('cluster-local', 'on a cluster', describeChart));

function describeChart(): void {
  let cluster: RealCluster;
  let chart: Installed;
  let conversation = '';
  const pods = async (): Promise<readonly string[]> =>
    (await cluster.kubectl(['-n', SANDBOXES, 'get', 'pods', '--output', 'name'])).split('\n').filter(Boolean);
  const volumes = async (): Promise<string> =>
    await cluster.kubectl(['-n', SANDBOXES, 'get', 'pvc', '--output', 'name']);

  beforeAll(async () => {
    const archives = await buildImages(tempDir());
    cluster = await startRealCluster();
    const digestOf = (image: string): string => cluster.importImage(archives.get(image) ?? '', image);
    const digests = { parley: digestOf(IMAGES.parley), sandbox: digestOf(IMAGES.sandbox) };
    chart = await installChart(cluster, digests);
  }, MS_MAX);
  afterAll(() => cluster.close(), MS_MAX);

  it(
    'has a conversation in a pod of its own',
    async () => {
      conversation = await converse(chart, 'Write a note about wells into text.md.');
      expect(await textOf(chart, conversation)).toContain(TEXT);
      expect(await pods()).toHaveLength(1);
    },
    MS_MAX,
  );

  it(
    'stops a sandbox whose pod is evicted, keeps its volume, and brings it back for the next message',
    async () => {
      const before = await volumes();
      const [pod = ''] = await pods();
      const name = pod.replace('pod/', '');
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: SANDBOXES } };
      const place = `/api/v1/namespaces/${SANDBOXES}/pods/${name}/eviction`;
      await cluster.kubectl(['create', '--raw', place, '-f', '-'], JSON.stringify(body));
      await expect.poll(pods, { timeout: 120_000, interval: 1_000 }).toEqual([]);
      const status = async () =>
        (await chart.client.getAppConversations({ query: { ids: [conversation] } }))[0]?.sandbox_status;
      await expect.poll(status, { timeout: 120_000, interval: 1_000 }).toBe('PAUSED');
      expect(await volumes()).toBe(before);
      await sayMore(chart, conversation);
      expect(await textOf(chart, conversation)).toContain(TEXT);
    },
    MS_MAX,
  );
}
