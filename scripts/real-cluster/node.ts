/**
 * The node of a cluster: containerd, kubelet, the services of kube-proxy and the network policies of kube-router.
 * Owns their settings.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ClusterParts } from '../cluster-tools.js';
import type { ControlPlane } from './control-plane.ts';
import { PAUSE_IMAGE } from './images.ts';
import { BRIDGE, NODE_ADDRESS, POD_NETWORK, SERVICE_NETWORK, type Machine } from './machine.ts';

export const NODE_NAME = 'node-1';
const HEALTH_PORT = 20_244;
/** Answers while kube-router lives and has lately written the rules. */
export const POLICIES_HEALTH = `http://${NODE_ADDRESS}:${HEALTH_PORT}/healthz`;
export const DNS_ADDRESS = '10.234.0.10';

export function startContainerd(machine: Machine, parts: ClusterParts): string {
  const { dir } = machine;
  const socket = path.join(dir, 'containerd.sock');
  const networks = path.join(dir, 'networks');
  mkdirSync(networks);
  const bridge = {
    ...{ type: 'bridge', bridge: BRIDGE, isGateway: true, hairpinMode: true },
    ipam: {
      ...{ type: 'host-local', dataDir: path.join(dir, 'addresses'), routes: [{ dst: '0.0.0.0/0' }] },
      ranges: [[{ subnet: '10.233.0.0/24', gateway: NODE_ADDRESS }]],
    },
  };
  const plugins = [bridge, { type: 'portmap', capabilities: { portMappings: true } }];
  const network = { cniVersion: '1.0.0', name: 'pods', plugins };
  writeFileSync(path.join(networks, '10-pods.conflist'), JSON.stringify(network));
  const config = path.join(dir, 'containerd.toml');
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  const lines = [
    'version = 2',
    `root = "${path.join(dir, 'containerd')}"`,
    `state = "${path.join(dir, 'containerd-state')}"`,
    'disabled_plugins = ["io.containerd.internal.v1.opt"]',
    `[grpc]\naddress = "${socket}"`,
    `[${cri}]\nsandbox_image = "${PAUSE_IMAGE}"`,
    // A process within a container may not lower what its parent has.
    'restrict_oom_score_adj = true',
    `[${cri}.cni]\nbin_dir = "${path.join(parts.debian, 'usr/lib/cni')}"\nconf_dir = "${networks}"`,
    `[${cri}.containerd]\nsnapshotter = "overlayfs"`,
    `[${cri}.containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"`,
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  machine.launch('containerd', ['--config', config]);
  return socket;
}

interface NodeOrder {
  readonly parts: ClusterParts;
  readonly plane: ControlPlane;
  /** Of containerd. */
  readonly socket: string;
}

export function startKubelet(machine: Machine, { parts, plane, socket }: NodeOrder): void {
  const { dir, controlGroup } = machine;
  const resolver = path.join(dir, 'resolv.conf');
  writeFileSync(resolver, 'nameserver 127.0.0.1\n');
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    ...{ cgroupDriver: 'cgroupfs', cgroupRoot: `/${controlGroup}`, failCgroupV1: false, failSwapOn: false },
    ...{ clusterDNS: [DNS_ADDRESS], clusterDomain: 'cluster.local', resolvConf: resolver },
    containerRuntimeEndpoint: `unix://${socket}`,
    podLogsDir: path.join(dir, 'pod-logs'),
    volumePluginDir: path.join(dir, 'volume-plugins'),
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: plane.serverCertificate },
    },
    authorization: { mode: 'Webhook' },
    // The disk is shared with whatever else is on this machine: it is no reason to end a pod.
    evictionHard: { 'memory.available': '100Mi' },
    ...{ imageGCHighThresholdPercent: 100, imageGCLowThresholdPercent: 99 },
  };
  const file = path.join(dir, 'kubelet.json');
  writeFileSync(file, JSON.stringify(config));
  machine.launch(path.join(parts.kubernetes, 'kubelet'), [
    ...['--config', file, '--kubeconfig', plane.kubeconfig, '--root-dir', path.join(dir, 'kubelet')],
    ...[`--cert-dir=${path.join(dir, 'kubelet-certs')}`],
    ...[`--hostname-override=${NODE_NAME}`, `--node-ip=${NODE_ADDRESS}`],
  ]);
}

export function startNetwork(machine: Machine, { parts, plane }: NodeOrder): void {
  const account = ['--kubeconfig', plane.kubeconfig, `--hostname-override=${NODE_NAME}`];
  machine.launch(path.join(parts.kubernetes, 'kube-proxy'), [
    ...[...account, '--proxy-mode=iptables', `--cluster-cidr=${POD_NETWORK}`, '--conntrack-max-per-core=0'],
    ...['--conntrack-tcp-timeout-established=0', '--conntrack-tcp-timeout-close-wait=0'],
  ]);
  const tools = path.join(parts.debian, 'usr');
  const env = {
    PATH: `${path.join(tools, 'sbin')}:${process.env['PATH'] ?? ''}`,
    LD_LIBRARY_PATH: path.join(tools, 'lib/x86_64-linux-gnu'),
  };
  const duties = ['--run-router=false', '--run-service-proxy=false', '--run-firewall=true'];
  const routes = [
    `--service-cluster-ip-range=${SERVICE_NETWORK}`,
    '--iptables-sync-period=15s',
    `--health-port=${HEALTH_PORT}`,
  ];
  machine.launch(path.join(parts.router, 'kube-router'), [...account, ...duties, ...routes], env);
}
