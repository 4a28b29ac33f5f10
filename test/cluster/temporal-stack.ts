/**
 * PostgreSQL and Temporal's own server over it, beside a deployment on a cluster, each with a volume or none as usual.
 * Owns their objects; must not assert.
 */
import type { RealCluster } from '../../scripts/real-cluster/real-cluster.ts';
import { IMAGES } from './cluster-images.ts';
import { NAMESPACE } from './installed-chart.ts';
import { rolledOut } from './workload.ts';
import type { Workload } from './workload.ts';

const STACK = 'data';
const USER = 'parley';
const PASSWORD = 'made-up';
const SERVICE_UID = 999;
const hostOf = (name: string): string => `${name}.${STACK}.svc.cluster.local`;

export const TEMPORAL_ADDRESS = `${hostOf('temporal')}:7233`;
/** The database first: while it is away Temporal's server ends again and again, and a new pod of it begins at once. */
export const TEMPORAL_STACK: readonly Workload[] = [
  { namespace: STACK, name: 'statefulset/postgres', pods: 'app=postgres' },
  { namespace: STACK, name: 'deployment/temporal', pods: 'app=temporal' },
];
export const SECRETS = { database: 'parley-database', seal: 'parley-seal' };

/** With the secrets of the deployment that name them. */
export async function startTemporalStack(cluster: RealCluster): Promise<void> {
  const { kubectl } = cluster;
  await kubectl(['create', 'namespace', STACK]);
  const url = `postgresql://${USER}:${PASSWORD}@${hostOf('postgres')}:5432/parley`;
  const seal = Buffer.alloc(32, 7).toString('base64');
  const secret = ['-n', NAMESPACE, 'create', 'secret', 'generic'];
  await kubectl([...secret, SECRETS.database, `--from-literal=url=${url}`]);
  await kubectl([...secret, SECRETS.seal, `--from-literal=seal-key=${seal}`]);
  await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects() }));
  for (const workload of TEMPORAL_STACK) await rolledOut(cluster, workload);
}

const labelled = (name: string): object => ({ name, namespace: STACK, labels: { app: name } });

const service = (name: string, port: number): object => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: labelled(name) },
  spec: { selector: { app: name }, ports: [{ port }] },
});

const variables = (values: Readonly<Record<string, string>>): readonly object[] =>
  Object.entries(values).map(([name, value]) => ({ name, value }));

function template(name: string, container: object): object {
  const spec = {
    // A database refuses files that others may read, which they would become at the second start.
    securityContext: {
      runAsUser: SERVICE_UID,
      fsGroup: SERVICE_UID,
      fsGroupChangePolicy: 'OnRootMismatch',
    },
    // What Kubernetes says of services is in no variable that a program takes for its own.
    enableServiceLinks: false,
    containers: [{ name, ...container }],
  };
  return { metadata: { labels: { app: name } }, spec };
}

function objects(): readonly object[] {
  const probe = (port: number): object => ({ tcpSocket: { port }, periodSeconds: 2, timeoutSeconds: 5 });
  const postgres = template('postgres', {
    image: IMAGES.postgres,
    // The folder itself is the volume's, and the database wants one of its own below it.
    env: variables({ POSTGRES_USER: USER, POSTGRES_PASSWORD: PASSWORD }),
    readinessProbe: probe(5432),
    volumeMounts: [{ name: 'data', mountPath: '/var/lib/postgresql' }],
  });
  const temporal = template('temporal', {
    image: IMAGES.temporal,
    env: variables({
      ...{ DB: 'postgres12', DB_PORT: '5432', POSTGRES_SEEDS: hostOf('postgres') },
      ...{ POSTGRES_USER: USER, POSTGRES_PWD: PASSWORD },
    }),
    readinessProbe: probe(7233),
  });
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
  };
  const selector = (name: string): object => ({ matchLabels: { app: name } });
  return [
    ...[service('postgres', 5432), service('temporal', 7233)],
    {
      ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: labelled('postgres') },
      spec: {
        ...{ replicas: 1, serviceName: 'postgres', selector: selector('postgres'), template: postgres },
        volumeClaimTemplates: [claim],
      },
    },
    {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: labelled('temporal') },
      spec: { replicas: 1, selector: selector('temporal'), template: temporal },
    },
  ];
}
