/**
 * The cluster of `npm run cluster:local`: its node runs pods, they find each other by name, and a policy holds.
 * What stands on it is in the other tests of this folder; where its parts were not built, all of them are skipped.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeDaemon, dockerSocket } from '../../scripts/docker-daemon.ts';
import { docker, MACHINE_BASE, makeBaseImage } from '../../scripts/machine-images.ts';
import { startRealCluster } from '../../scripts/real-cluster/real-cluster.ts';
import type { RealCluster } from '../../scripts/real-cluster/real-cluster.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const MS_MAX = 900_000;
const IMAGE = `docker.io/library/${MACHINE_BASE}`;
const ANSWER = "require('http').createServer((_, r) => r.end('here')).listen(8000)";
const ASK = `fetch('http://answer.default.svc.cluster.local', { signal: AbortSignal.timeout(3000) })
  .then((r) => r.text()).then(console.log, () => console.log('nothing'))`;

const pod = (name: string, script: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: { containers: [{ name: 'main', image: IMAGE, command: ['node', '-e', script] }] },
});

describeWith('cluster-local', 'a cluster of one node', () => {
  let cluster: RealCluster;
  const apply = (...items: readonly object[]): Promise<string> =>
    cluster.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const ask = async (): Promise<string> =>
    (await cluster.kubectl(['exec', 'ask', '--', 'node', '-e', ASK])).trim();

  beforeAll(async () => {
    const command = { socket: dockerSocket(), env: { DOCKER_HOST: `unix://${dockerSocket()}` } };
    const archive = `${tempDir()}/base.tar`;
    try {
      await makeBaseImage(command);
      await docker(command, 'save', '--output', archive, MACHINE_BASE);
    } finally {
      await closeDaemon();
    }
    cluster = await startRealCluster();
    cluster.importImage(archive, IMAGE);
  }, MS_MAX);
  afterAll(() => cluster.close(), MS_MAX);

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
