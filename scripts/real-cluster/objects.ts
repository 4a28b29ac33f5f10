/**
 * What is in a cluster before anybody installs anything: the class of volumes and the name server.
 * Owns these objects; as data only.
 */
import { NAMES_IMAGE } from './images.ts';
import { DNS_ADDRESS } from './node.ts';
import { STORAGE_CLASS } from './volumes.ts';

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
export const CLUSTER_OBJECTS = {
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
