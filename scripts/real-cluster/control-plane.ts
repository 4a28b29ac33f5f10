/**
 * etcd, API server, controller manager and scheduler of a cluster, in a machine of their own.
 * Owns what a whole cluster asks of them beyond a server of tests; the holder of the kubeconfig is an administrator.
 */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import {
  accountKeyOf,
  authorityOf,
  newToken,
  serverArguments,
  serverIsReady,
  storeArguments,
  writeKubeconfig,
} from '../api-server.ts';
import type { ClusterParts } from '../cluster-tools.js';
import { NODE_ADDRESS, POD_NETWORK, SERVICE_NETWORK, type Machine } from './machine.ts';

const STORE = 'http://127.0.0.1:2379';
const PEERS = 'http://127.0.0.1:2380';
/** The usual one, which network policies name. */
const PORT = 6443;

export interface ControlPlane {
  /** Of an administrator. */
  readonly kubeconfig: string;
  /** Certificate by which the API server shows itself to the kubelet. */
  readonly serverCertificate: string;
}

/** @throws Error the API server is not ready in time */
export async function startControlPlane(machine: Machine, parts: ClusterParts): Promise<ControlPlane> {
  const { dir } = machine;
  const program = (name: string): string => path.join(parts.kubernetes, name);
  machine.launch(path.join(parts.debian, 'usr/bin/etcd'), storeArguments(dir, STORE, PEERS));
  const token = newToken();
  const place = { dir, host: NODE_ADDRESS, port: PORT };
  const { certificate, key } = makeCertificate(dir);
  const users = [`${token},admin,1,"system:masters"`];
  const server = machine.launch(program('kube-apiserver'), [
    ...serverArguments(place, { store: STORE, services: SERVICE_NETWORK, users }),
    ...['--bind-address=0.0.0.0', `--advertise-address=${NODE_ADDRESS}`],
    ...[`--kubelet-client-certificate=${certificate}`, `--kubelet-client-key=${key}`],
    // The node is not known by its name.
    '--kubelet-preferred-address-types=InternalIP',
  ]);
  await serverIsReady(place, { server, token, said: () => machine.logOf('kube-apiserver') });
  const kubeconfig = writeKubeconfig(place, token);
  const account = ['--kubeconfig', kubeconfig];
  machine.launch(program('kube-controller-manager'), [
    ...[...account, '--leader-elect=false', '--allocate-node-cidrs', `--cluster-cidr=${POD_NETWORK}`],
    ...[`--service-cluster-ip-range=${SERVICE_NETWORK}`, `--root-ca-file=${authorityOf(dir)}`],
    `--service-account-private-key-file=${accountKeyOf(dir)}`,
  ]);
  machine.launch(program('kube-scheduler'), [...account, '--leader-elect=false']);
  return { kubeconfig, serverCertificate: certificate };
}

function makeCertificate(dir: string): { readonly certificate: string; readonly key: string } {
  const [certificate, key] = [path.join(dir, 'server.crt'), path.join(dir, 'server.key')];
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  const files = ['-subj', '/O=system:masters/CN=server', '-keyout', key, '-out', certificate];
  execFileSync('openssl', ['req', ...kind, ...files], { stdio: 'pipe' });
  return { certificate, key };
}
