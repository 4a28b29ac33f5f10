/**
 * Another value for each value of the chart, and with what else it counts.
 * Owns the table; the expected results are in values.test.ts.
 */
import { SHARED, TEMPORAL } from './rendered-chart.ts';

const DIGEST = `sha256:${'1'.repeat(64)}`;

/** Another value than the default; a pair says in addition with what else it counts. */
type Changed = { readonly value: unknown; readonly with?: readonly string[] };

const BUCKET = [...TEMPORAL, 'store.s3.bucket=results', 'store.s3.region=eu-west-1'];
const ACCESS_KEY = 'store.s3.accessKeySecret.name=access';
export const EXTERNAL = ['externalSecrets.enabled=true', 'externalSecrets.storeRef.name=vault'];
export const SCALED = [...TEMPORAL, 'api.autoscaling.enabled=true'];
export const INGRESS = ['ingress.enabled=true', 'ingress.hosts={a.test}'];
export const GATEWAY = [
  'gateway.enabled=true',
  'gateway.parentRefs[0].name=front',
  'gateway.hostnames={b.test}',
];
export const MONITORED = ['serviceMonitor.enabled=true'];
export const PEERS = [{ namespaceSelector: { matchLabels: { team: 'red' } } }];

const PLACEMENT: Readonly<Record<string, unknown>> = {
  podAnnotations: { a: 'b' },
  priorityClassName: 'high',
  nodeSelector: { pool: 'red' },
  tolerations: [{ key: 'red', operator: 'Exists' }],
  affinity: { podAntiAffinity: {} },
  extraEnv: [{ name: 'TZ', value: 'UTC' }],
  extraVolumes: [{ name: 'more', emptyDir: {} }],
  extraVolumeMounts: [{ name: 'more', mountPath: '/more' }],
};
const SPREAD = [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }];
const PROCESS: Readonly<Record<string, unknown>> = {
  ...PLACEMENT,
  topologySpreadConstraints: SPREAD,
  'storage.size': '7Gi',
  'storage.storageClass': 'fast',
  'disruptionBudget.enabled': false,
  'disruptionBudget.maxUnavailable': '50%',
};
const RESOURCES: Readonly<Record<string, unknown>> = {
  'resources.requests.cpu': '11m',
  'resources.requests.memory': '11Mi',
  'resources.limits.cpu': '11',
  'resources.limits.memory': '11Gi',
};

function of(component: string, table: Readonly<Record<string, unknown>>, counts: readonly string[] = []) {
  return Object.fromEntries(
    Object.entries(table).map(([key, value]) => [`${component}.${key}`, { value, with: counts }]),
  );
}

export const CHANGED: Readonly<Record<string, Changed>> = {
  'image.repository': { value: 'registry.test/parley' },
  'image.digest': { value: DIGEST },
  'image.pullSecret': { value: 'pull' },
  'engine.kind': { value: 'temporal', with: TEMPORAL.slice(1) },
  'engine.temporal.address': { value: 'other.test:7777', with: TEMPORAL },
  'engine.temporal.namespace': { value: 'red', with: TEMPORAL },
  'engine.temporal.register.enabled': { value: false, with: TEMPORAL },
  'engine.temporal.register.retentionDays': { value: 30, with: TEMPORAL },
  'engine.temporal.register.wait': { value: '1h', with: TEMPORAL },
  'store.kind': { value: 'postgres', with: ['store.urlSecret.name=database'] },
  'store.urlSecret.name': { value: 'other', with: TEMPORAL },
  'store.urlSecret.key': { value: 'other', with: TEMPORAL },
  'store.s3.bucket': { value: 'made', with: BUCKET },
  'store.s3.endpoint': { value: 'https://s3.test:9443', with: BUCKET },
  'store.s3.region': { value: 'eu-central-1', with: BUCKET },
  'store.s3.prefix': { value: 'teams/red', with: BUCKET },
  'store.s3.accessKeySecret.name': { value: 'access', with: BUCKET },
  'store.s3.accessKeySecret.idKey': { value: 'id', with: [...BUCKET, ACCESS_KEY] },
  'store.s3.accessKeySecret.secretKey': { value: 'secret', with: [...BUCKET, ACCESS_KEY] },
  'store.port': { value: 6_432, with: TEMPORAL },
  'seal.secretName': { value: 'seal' },
  'seal.key': { value: 'other', with: ['seal.secretName=seal'] },
  'firstKey.create': { value: false },
  'firstKey.existingSecret': { value: 'mine' },
  ...of('api', { ...PROCESS, ...RESOURCES }),
  'api.port': { value: 3_333 },
  'api.replicas': { value: 3, with: TEMPORAL },
  'api.publicUrl': { value: 'https://parley.test' },
  'api.from': { value: PEERS },
  'api.autoscaling.enabled': { value: true, with: TEMPORAL },
  'api.autoscaling.minReplicas': { value: 3, with: SCALED },
  'api.autoscaling.maxReplicas': { value: 9, with: SCALED },
  'api.autoscaling.cpuPercent': { value: 50, with: SCALED },
  'api.autoscaling.memoryPercent': { value: 80, with: SCALED },
  ...of('worker', { ...PROCESS, ...RESOURCES, healthPort: 8_888 }, TEMPORAL),
  'worker.replicas': { value: 3, with: BUCKET },
  'proxy.replicas': { value: 2, with: SHARED },
  'proxy.store.urlSecret.name': { value: 'spend' },
  'proxy.store.urlSecret.key': { value: 'other', with: SHARED },
  'proxy.store.port': { value: 6_432, with: SHARED },
  ...of('proxy', { ...PROCESS, ...RESOURCES, port: 4_444 }),
  'engineEnvironment.secretName': {
    value: 'other',
    with: ['engineEnvironment.secretName=tokens', 'engineEnvironment.variables={TOKEN}'],
  },
  'engineEnvironment.variables': { value: ['TOKEN'], with: ['engineEnvironment.secretName=tokens'] },
  'engineKey.secretName': { value: 'other' },
  'engineKey.key': { value: 'other' },
  'proxy.secretEnvironment.secretName': { value: 'other' },
  'proxy.secretEnvironment.variables': { value: ['OTHER_KEY'] },
  'proxy.gateway': { value: [{ ports: [{ protocol: 'TCP', port: 8_443 }] }] },
  ...of('jobs', { ...PLACEMENT, ...RESOURCES }),
  'ingress.enabled': { value: true, with: ['ingress.hosts={a.test}'] },
  'ingress.className': { value: 'front', with: INGRESS },
  'ingress.annotations': { value: { a: 'b' }, with: INGRESS },
  'ingress.hosts': { value: ['b.test', 'c.test'], with: INGRESS },
  'ingress.tls': { value: [{ secretName: 'cert', hosts: ['a.test'] }], with: INGRESS },
  'gateway.enabled': { value: true, with: GATEWAY.slice(1) },
  'gateway.annotations': { value: { a: 'b' }, with: GATEWAY },
  'gateway.parentRefs': { value: [{ name: 'other', sectionName: 'https' }], with: GATEWAY },
  'gateway.hostnames': { value: ['c.test'], with: GATEWAY },
  'gateway.timeout': { value: '0s', with: GATEWAY },
  'serviceMonitor.enabled': { value: true },
  'serviceMonitor.labels': { value: { release: 'monitoring' }, with: MONITORED },
  'serviceMonitor.interval': { value: '1m', with: MONITORED },
  'serviceMonitor.scrapeTimeout': { value: '5s', with: MONITORED },
  'serviceMonitor.proxyKey': { value: 'GATEWAY_KEY', with: MONITORED },
  'serviceMonitor.from': { value: PEERS, with: MONITORED },
  'externalSecrets.enabled': {
    value: true,
    with: ['externalSecrets.storeRef.name=vault', 'externalSecrets.remote.gateway=kv'],
  },
  'externalSecrets.refreshInterval': {
    value: '5m',
    with: [...EXTERNAL, 'externalSecrets.remote.gateway=kv'],
  },
  'externalSecrets.storeRef.kind': {
    value: 'ClusterSecretStore',
    with: [...EXTERNAL, 'externalSecrets.remote.gateway=kv'],
  },
  'externalSecrets.storeRef.name': {
    value: 'other',
    with: [...EXTERNAL, 'externalSecrets.remote.gateway=kv'],
  },
  'externalSecrets.remote.gateway': { value: 'kv/gateway', with: EXTERNAL },
  'externalSecrets.remote.engineKey': { value: 'kv/engine', with: EXTERNAL },
  'externalSecrets.remote.engineEnvironment': {
    value: 'kv/tokens',
    with: [...EXTERNAL, 'engineEnvironment.secretName=tokens', 'engineEnvironment.variables={TOKEN}'],
  },
  'externalSecrets.remote.seal': { value: 'kv/seal', with: [...EXTERNAL, 'seal.secretName=seal'] },
  'externalSecrets.remote.database': { value: 'kv/database', with: [...EXTERNAL, ...TEMPORAL] },
  'externalSecrets.remote.firstKey': {
    value: 'kv/first',
    with: [...EXTERNAL, 'firstKey.existingSecret=mine'],
  },
  'proxy_config.model_list': { value: [{ model_name: 'coder' }] },
  'sandboxes.namespace': { value: 'other' },
  'sandboxes.createNamespace': { value: false },
  'sandboxes.installation': { value: 'other' },
  'sandboxes.image': { value: `other@${DIGEST}` },
  'sandboxes.pullSecret': { value: 'pull' },
  'sandboxes.storageClass': { value: 'fast' },
  'sandboxes.runtimeClass': { value: 'gvisor' },
  'sandboxes.podSecurity': { value: 'restricted' },
  'sandboxes.egress': { value: ['code_hosts'] },
  'sandboxes.pods': { value: 7 },
  'sandboxes.volumes': { value: 7 },
  'sandboxes.limits.memoryMb': { value: 777 },
  'sandboxes.limits.cpuPercent': { value: 77 },
  'sandboxes.limits.diskMb': { value: 777 },
  'sandboxes.limits.fileMb': { value: 777 },
  'sandboxes.requests.memoryMb': { value: 77 },
  'sandboxes.requests.cpuPercent': { value: 7 },
  config: { value: { limits: { idle_time: 60 } } },
};
/** What is refused unless it is what it is, with the reason: see below. */
export const FIXED = ['proxy.autoscaling.enabled'];
