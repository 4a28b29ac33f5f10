/**
 * A whole Kubernetes of one node on this machine, for tests: every program is the real one, in a machine of its own.
 * Owns the order in which its parts start; each part is a file beside this one.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CoreV1Api, KubeConfig, type V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { clusterMissing, installedCluster } from '../cluster-tools.js';
import { startControlPlane } from './control-plane.ts';
import { importImage, importProgram, killContainer, NAMES_IMAGE, PAUSE_IMAGE } from './images.ts';
import { isKept, startMachine, type Machine } from './machine.ts';
import {
  NODE_NAME,
  POLICIES_HEALTH,
  startContainerd,
  startKubelet,
  startNetwork,
  DNS_ADDRESS,
} from './node.ts';

/**
 * Volumes of a cluster of one node: a folder for each claim of the class, made when it is asked for and removed when the
 * claim is.
 * Owns these folders and their objects, by looking again and again.
 */
const STORAGE_CLASS = 'local';
const VOLUMES_POLL_MS = 500;

function startVolumes(core: CoreV1Api, folder: string): Pick<RealCluster, 'close'> {
  const stopped = new AbortController();
  const working = run();
  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      // Another process may change what was just read: the next poll sees it.
      await lookAround(core, folder).catch(() => undefined);
      await pause(VOLUMES_POLL_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  }
  return {
    async close() {
      stopped.abort();
      await working;
    },
  };
}

async function lookAround(core: CoreV1Api, folder: string): Promise<void> {
  const { items: volumes } = await core.listPersistentVolume();
  const names = new Set(volumes.map(({ metadata }) => metadata?.name));
  for (const { metadata, status, spec } of volumes) {
    const at = spec?.local?.path;
    if (status?.phase !== 'Released' || metadata?.name === undefined || at === undefined) continue;
    rmSync(at, { recursive: true, force: true });
    await core.deletePersistentVolume({ name: metadata.name });
  }
  const { items: claims } = await core.listPersistentVolumeClaimForAllNamespaces();
  for (const claim of claims) {
    if (claim.status?.phase !== 'Pending' || claim.spec?.storageClassName !== STORAGE_CLASS) continue;
    if (!names.has(nameOf(claim))) await makeVolume(core, claim, path.join(folder, nameOf(claim)));
  }
}

const nameOf = ({ metadata }: V1PersistentVolumeClaim): string => `local-${metadata?.uid ?? ''}`;

async function makeVolume(core: CoreV1Api, claim: V1PersistentVolumeClaim, at: string): Promise<void> {
  const { metadata, spec } = claim;
  mkdirSync(at, { recursive: true });
  const onNode = { key: 'kubernetes.io/hostname', operator: 'In', values: [NODE_NAME] };
  await core.createPersistentVolume({
    body: {
      metadata: { name: nameOf(claim) },
      spec: {
        capacity: { storage: spec?.resources?.requests?.['storage'] ?? '1Gi' },
        accessModes: spec?.accessModes ?? ['ReadWriteOnce'],
        storageClassName: STORAGE_CLASS,
        persistentVolumeReclaimPolicy: 'Retain',
        claimRef: {
          ...{ kind: 'PersistentVolumeClaim', apiVersion: 'v1' },
          name: metadata?.name ?? '',
          namespace: metadata?.namespace ?? '',
          uid: metadata?.uid ?? '',
        },
        local: { path: at },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onNode] }] } },
      },
    },
  });
}

const LOOK_MS = 200;
const SOCKET_MS = 60_000;
const READY = '240s';
const OUTPUT_BYTES_MAX = 64 * 1024 ** 2;

export interface RealCluster {
  readonly machine: Machine;
  /** Of an administrator, for programs of this machine. */
  readonly kubeconfig: string;
  /** Its standard output. @throws Error with what it said */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** Takes in an archive of `docker save`; the digest under which pods find the image of that name. */
  importImage(archive: string, image: string): string;
  /** Kills the first program of that container with SIGKILL. */
  kill(container: string): void;
  close(): Promise<void>;
}

/** @throws Error a part is missing, or one does not start */
export async function startRealCluster(): Promise<RealCluster> {
  const reason = clusterMissing(process.env);
  const parts = installedCluster(process.env);
  if (parts === null || reason !== null) throw new Error(`Cannot start a cluster: ${reason ?? 'parts'}`);
  const machine = await startMachine(parts.pause);
  let volumes: Pick<RealCluster, 'close'> | null = null;
  const close = async (): Promise<void> => {
    await volumes?.close();
    await machine.close();
  };
  try {
    const socket = startContainerd(machine, parts);
    const plane = await startControlPlane(machine, parts);
    const { kubeconfig } = plane;
    await isThere(machine, socket);
    const store = { machine, socket };
    await importProgram(store, parts.pause, PAUSE_IMAGE);
    await importProgram(store, path.join(parts.names, 'coredns'), NAMES_IMAGE);
    startKubelet(machine, { parts, plane, socket });
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    volumes = startVolumes(config.makeApiClient(CoreV1Api), path.join(machine.dir, 'volumes'));
    const kubectl = (args: readonly string[], input?: string): Promise<string> =>
      runKubectl(['--kubeconfig', kubeconfig, ...args], input);
    await kubectl(['apply', '--filename', '-'], JSON.stringify(CLUSTER_OBJECTS));
    await nodeIsThere(machine, kubectl);
    // Who keeps to policies does so for a node that it finds.
    startNetwork(machine, { parts, plane, socket });
    await policiesAreKept(machine);
    await kubectl(['wait', '--for=condition=Ready', `node/${NODE_NAME}`, `--timeout=${READY}`]);
    await kubectl(['-n', 'kube-system', 'rollout', 'status', 'deployment/coredns', `--timeout=${READY}`]);
    return {
      ...{ machine, kubeconfig, kubectl, close },
      importImage: (archive, image) => importImage(store, archive, image),
      kill: (container) => killContainer(store, container),
    };
  } catch (error) {
    if (!isKept()) await close();
    throw error;
  }
}

async function isThere(machine: Machine, socket: string): Promise<void> {
  for (const until = Date.now() + SOCKET_MS; Date.now() < until; await pause(LOOK_MS))
    if (existsSync(socket)) return;
  throw new Error(`Cannot start containerd: ${machine.logOf('containerd')}`);
}

async function nodeIsThere(machine: Machine, kubectl: RealCluster['kubectl']): Promise<void> {
  for (const until = Date.now() + SOCKET_MS; Date.now() < until; await pause(LOOK_MS)) {
    if ((await kubectl(['get', 'nodes', '--output', 'name'])).includes(NODE_NAME)) return;
  }
  throw new Error(`Cannot start the kubelet: ${machine.logOf('kubelet')}`);
}

async function policiesAreKept(machine: Machine): Promise<void> {
  for (const until = Date.now() + SOCKET_MS; Date.now() < until; await pause(LOOK_MS)) {
    const answer = await fetch(POLICIES_HEALTH).catch(() => null);
    if (answer?.ok === true) return;
  }
  throw new Error(`Cannot keep to network policies: ${machine.logOf('kube-router')}`);
}

function runKubectl(args: readonly string[], input: string | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('kubectl', [...args], { maxBuffer: OUTPUT_BYTES_MAX }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`kubectl ${args.slice(2, 5).join(' ')} failed: ${stderr.trim()}`));
    });
    child.stdin?.on('error', () => undefined).end(input ?? '');
  });
}

const NAMESPACE = 'kube-system';
const LABELS = { 'k8s-app': 'kube-dns' };
const SETTINGS = `.:53 {
  errors
  health :8080
  ready :8181
  kubernetes cluster.local in-addr.arpa
}
`;

const meta = (name: string): object => ({ name, namespace: NAMESPACE, labels: LABELS });

/** For `kubectl apply`. */
const CLUSTER_OBJECTS = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: {
        name: STORAGE_CLASS,
        annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
      },
      provisioner: 'parley.dev/local',
      reclaimPolicy: 'Retain',
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: meta('coredns') },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'coredns' },
      rules: [
        { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'coredns' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'coredns' },
      subjects: [{ kind: 'ServiceAccount', name: 'coredns', namespace: NAMESPACE }],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta('coredns'), data: { Corefile: SETTINGS } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: meta('coredns'),
      spec: {
        replicas: 1,
        selector: { matchLabels: LABELS },
        template: {
          metadata: { labels: LABELS },
          spec: {
            serviceAccountName: 'coredns',
            dnsPolicy: 'Default',
            priorityClassName: 'system-cluster-critical',
            tolerations: [{ operator: 'Exists' }],
            containers: [
              {
                name: 'coredns',
                image: NAMES_IMAGE,
                args: ['-conf', '/etc/coredns/Corefile'],
                readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 2 },
                volumeMounts: [{ name: 'settings', mountPath: '/etc/coredns' }],
              },
            ],
            volumes: [{ name: 'settings', configMap: { name: 'coredns' } }],
          },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: meta('kube-dns'),
      spec: {
        clusterIP: DNS_ADDRESS,
        selector: LABELS,
        ports: [
          { name: 'dns', port: 53, protocol: 'UDP' },
          { name: 'dns-tcp', port: 53, protocol: 'TCP' },
        ],
      },
    },
  ],
};
