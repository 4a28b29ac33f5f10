/**
 * etcd, API server, controller manager and scheduler of a cluster, in a machine of their own.
 * Owns their arguments, keys and credentials; the holder of the kubeconfig is an administrator.
 */
import { execFileSync, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClusterParts } from '../cluster-tools.js';
import { NODE_ADDRESS, POD_NETWORK, SERVICE_NETWORK, type Machine } from './machine.ts';

const STORE = 'http://127.0.0.1:2379';
const PEERS = 'http://127.0.0.1:2380';
/** The usual one, which network policies name. */
const PORT = 6443;
const START_MS = 180_000;
const LOOK_MS = 200;

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
  // A test needs no bytes after a power cut.
  machine.launch(path.join(parts.debian, 'usr/bin/etcd'), [
    ...['--name', 'local', '--data-dir', path.join(dir, 'etcd'), '--unsafe-no-fsync'],
    ...['--listen-client-urls', STORE, '--advertise-client-urls', STORE],
    ...['--listen-peer-urls', PEERS, '--initial-advertise-peer-urls', PEERS],
    ...['--initial-cluster', `local=${PEERS}`],
  ]);
  const token = randomBytes(24).toString('hex');
  const keys = makeKeys(dir);
  const server = machine.launch(program('kube-apiserver'), apiServerArguments(dir, { token, keys }));
  await isReady(machine, { server, token });
  const kubeconfig = writeKubeconfig(dir, token);
  const account = ['--kubeconfig', kubeconfig];
  machine.launch(program('kube-controller-manager'), [
    ...[...account, '--leader-elect=false', '--allocate-node-cidrs', `--cluster-cidr=${POD_NETWORK}`],
    ...[`--service-cluster-ip-range=${SERVICE_NETWORK}`, `--root-ca-file=${authorityOf(dir)}`],
    `--service-account-private-key-file=${keys.account}`,
  ]);
  machine.launch(program('kube-scheduler'), [...account, '--leader-elect=false']);
  return { kubeconfig, serverCertificate: keys.certificate };
}

interface Keys {
  readonly account: string;
  readonly accountPublic: string;
  readonly certificate: string;
  readonly certificateKey: string;
}

function makeKeys(dir: string): Keys {
  const at = (name: string): string => path.join(dir, name);
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  writeFileSync(at('account.pub'), publicKey);
  writeFileSync(at('account.key'), privateKey, { mode: 0o600 });
  const kind = [
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/O=system:masters/CN=server',
  ];
  const files = ['-keyout', at('server.key'), '-out', at('server.crt')];
  execFileSync('openssl', ['req', ...kind, ...files], { stdio: 'pipe' });
  return {
    ...{ account: at('account.key'), accountPublic: at('account.pub') },
    ...{ certificate: at('server.crt'), certificateKey: at('server.key') },
  };
}

function apiServerArguments(
  dir: string,
  { token, keys }: { readonly token: string; readonly keys: Keys },
): readonly string[] {
  const tokens = path.join(dir, 'tokens');
  writeFileSync(tokens, `${token},admin,1,"system:masters"\n`, { mode: 0o600 });
  return [
    ...[`--etcd-servers=${STORE}`, '--bind-address=0.0.0.0', `--secure-port=${PORT}`],
    ...[`--advertise-address=${NODE_ADDRESS}`, `--cert-dir=${path.join(dir, 'certs')}`],
    ...[`--service-cluster-ip-range=${SERVICE_NETWORK}`, `--token-auth-file=${tokens}`],
    ...['--authorization-mode=RBAC', '--anonymous-auth=false', '--profiling=false'],
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${keys.accountPublic}`,
    `--service-account-signing-key-file=${keys.account}`,
    `--kubelet-client-certificate=${keys.certificate}`,
    `--kubelet-client-key=${keys.certificateKey}`,
    // The node is not known by its name.
    '--kubelet-preferred-address-types=InternalIP',
    // A store as old as Debian's tells no progress of a watch, and a list from a cache would wait for it.
    ...['--watch-cache=false', '--feature-gates=WatchList=false,SizeBasedListCostEstimate=false'],
  ];
}

/** The server certifies itself. */
const authorityOf = (dir: string): string => path.join(dir, 'certs', 'apiserver.crt');

async function isReady(
  machine: Machine,
  { server, token }: { readonly server: ChildProcess; readonly token: string },
): Promise<void> {
  for (const until = Date.now() + START_MS; Date.now() < until; await pause(LOOK_MS)) {
    if (server.exitCode !== null) break;
    if (await answers(token)) return;
  }
  throw new Error(`Cannot start the API server: ${machine.logOf('kube-apiserver')}`);
}

function answers(token: string): Promise<boolean> {
  return new Promise((resolve) => {
    const place = { host: NODE_ADDRESS, port: PORT, path: '/readyz' };
    const options = { ...place, rejectUnauthorized: false, agent: false, timeout: 5_000 };
    const call = request({ ...options, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.on('timeout', () => call.destroy());
    call.on('error', () => resolve(false));
    call.end();
  });
}

function writeKubeconfig(dir: string, token: string): string {
  const file = path.join(dir, 'kubeconfig');
  const server = `https://${NODE_ADDRESS}:${PORT}`;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'local',
    clusters: [{ name: 'local', cluster: { server, 'certificate-authority': authorityOf(dir) } }],
    users: [{ name: 'local', user: { token } }],
    contexts: [{ name: 'local', context: { cluster: 'local', user: 'local' } }],
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}
