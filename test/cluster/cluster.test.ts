/**
 * The cluster of `npm run cluster:local`: its node runs pods, they find each other by name, and a policy holds.
 * What stands on it is in the other tests of this folder; where its parts were not built, all of them are skipped.
 */
import { mkdtempSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startRealCluster } from '../../scripts/real-cluster/real-cluster.ts';
import type { RealCluster } from '../../scripts/real-cluster/real-cluster.ts';
import { describeWith } from '../helpers/requires.ts';
import { removeDir } from '../helpers/temp-dir.ts';
import { buildImages, IMAGES } from './cluster-images.ts';

const MS_MAX = 900_000;
const ANSWER = "require('http').createServer((_, r) => r.end('here')).listen(8000)";
const ASK = `fetch('http://answer.default.svc.cluster.local', { signal: AbortSignal.timeout(3000) })
  .then((r) => r.text()).then(console.log, () => console.log('nothing'))`;

const pod = (name: string, script: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: { containers: [{ name: 'main', image: IMAGES.base, command: ['node', '-e', script] }] },
});

describeWith('cluster-local', 'a cluster of one node', () => {
  let cluster: RealCluster;
  let folder = '';
  const apply = (...items: readonly object[]): Promise<string> =>
    cluster.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const ask = async (): Promise<string> =>
    (await cluster.kubectl(['exec', 'ask', '--', 'node', '-e', ASK])).trim();

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'cluster-')));
    const archives = await buildImages(['base'], folder);
    cluster = await startRealCluster();
    cluster.importImage(archives.get('base') ?? '', IMAGES.base);
  }, MS_MAX);
  afterAll(async () => {
    await (cluster as RealCluster | undefined)?.close();
    removeDir(folder);
  }, MS_MAX);

  it(
    'runs pods, which find a service by its name',
    async () => {
      const ports = [{ port: 80, targetPort: 8000 }];
      const metadata = { name: 'answer' };
      const service = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata,
        spec: { selector: { app: 'answer' }, ports },
      };
      await apply(pod('answer', ANSWER), pod('ask', 'setInterval(() => {}, 1e6)'), service);
      await cluster.kubectl(['wait', '--for=condition=Ready', 'pod/answer', 'pod/ask', '--timeout=180s']);
      await expect.poll(ask, { timeout: 60_000, interval: 1_000 }).toBe('here');
    },
    MS_MAX,
  );

  it(
    'keeps to a policy, and to its end',
    async () => {
      const metadata = { name: 'closed' };
      const spec = { podSelector: { matchLabels: { app: 'answer' } }, policyTypes: ['Ingress'] };
      const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata, spec };
      await apply(policy);
      await expect.poll(ask, { timeout: 60_000, interval: 1_000 }).toBe('nothing');
      await cluster.kubectl(['delete', 'networkpolicy', 'closed']);
      await expect.poll(ask, { timeout: 60_000, interval: 1_000 }).toBe('here');
    },
    MS_MAX,
  );
});
