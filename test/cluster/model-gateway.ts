/**
 * The gateway outside of a deployment on a cluster: it answers from the script of examples/three-hundred and writes its
 * bill on a volume.
 * Owns its objects and keys; must not assert.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ledgerRowSchema, type LedgerRow } from '../../scripted-gateway/ledger.ts';
import type { RealCluster } from '../../scripts/real-cluster/real-cluster.ts';
import { IMAGES } from './cluster-images.ts';

const SCRIPT = path.resolve(import.meta.dirname, '../../examples/three-hundred/gateway.yaml');
export const MODELS_NAMESPACE = 'models';
const NAME = 'gateway';
export const GATEWAY_PORT = 4010;
export const GATEWAY_HOST = `${NAME}.${MODELS_NAMESPACE}.svc.cluster.local`;
export const GATEWAY_KEYS = { PROXY_MASTER_KEY: 'sk-made-up-master', GATEWAY_KEY: 'sk-made-up' };
const LEDGER = '/ledger/spend.jsonl';
const USER = 10_001;

export async function startGateway({ kubectl }: RealCluster): Promise<void> {
  await kubectl(['create', 'namespace', MODELS_NAMESPACE]);
  await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects() }));
  await kubectl(['-n', MODELS_NAMESPACE, 'rollout', 'status', `statefulset/${NAME}`, '--timeout=300s']);
}

/** What the gateway wrote down for its bill. */
export async function billOf({ kubectl }: RealCluster): Promise<readonly LedgerRow[]> {
  const text = await kubectl(['-n', MODELS_NAMESPACE, 'exec', `${NAME}-0`, '--', 'cat', LEDGER]);
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => ledgerRowSchema.parse(JSON.parse(line)));
}

function objects(): readonly object[] {
  const metadata = { name: NAME, namespace: MODELS_NAMESPACE, labels: { app: NAME } };
  const script = { 'gateway.yaml': readFileSync(SCRIPT, 'utf8') };
  const where = ['--host', '0.0.0.0', '--port', String(GATEWAY_PORT), '--ledger', LEDGER];
  const container = {
    ...{ name: 'main', image: IMAGES.parley, command: ['node', '/opt/parley/dist/scripted-gateway.js'] },
    args: ['/script/gateway.yaml', ...where],
    env: [{ name: 'PARLEY_GATEWAY_KEY', value: GATEWAY_KEYS.GATEWAY_KEY }],
    readinessProbe: { tcpSocket: { port: GATEWAY_PORT }, periodSeconds: 2 },
    volumeMounts: [
      { name: 'script', mountPath: '/script' },
      { name: 'ledger', mountPath: '/ledger' },
    ],
  };
  const claim = {
    metadata: { name: 'ledger' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: script },
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata },
      spec: { selector: metadata.labels, ports: [{ port: GATEWAY_PORT }] },
    },
    {
      ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata },
      spec: {
        ...{ replicas: 1, serviceName: NAME, selector: { matchLabels: metadata.labels } },
        template: {
          metadata: { labels: metadata.labels },
          spec: {
            securityContext: { runAsUser: USER, fsGroup: USER },
            containers: [container],
            volumes: [{ name: 'script', configMap: { name: NAME } }],
          },
        },
        volumeClaimTemplates: [claim],
      },
    },
  ];
}
