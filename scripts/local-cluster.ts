/**
 * A real API server of Kubernetes with etcd behind it and kwok in place of nodes, on loopback, for tests.
 * Owns the three processes, their credentials and files below a temporary folder, and the end of all of it. There is no
 * scheduler, no controller and no kubelet: kwok says of every pod on a node of its own that it runs.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../loopback/free-port.ts';
import { installedKubernetes, type KubernetesPrograms } from './kubernetes-tools.js';

/** Seconds on a quiet machine. */
const START_MS = 120_000;
const POLL_MS = 100;
/** Pods get addresses of the loopback network, so that a test can answer at them. */
const POD_NETWORK = '127.250.0.1/16';
/** Nodes with this label, empty, are kwok's; others are whoever's made them. */
export const KWOK_LABEL = 'kwok';
const LOG_TAIL_BYTES = 2_000;

export interface LocalCluster {
  /** Credentials of an administrator, with that namespace as the default. */
  kubeconfig(namespace: string): string;
  /** Credentials of an account that may do nothing. */
  powerless(namespace: string): string;
  /** Files of the server's own certificate, for a stand-in of a node. */
  readonly certificate: { readonly cert: string; readonly key: string };
  close(): Promise<void>;
}

interface Parts {
  readonly dir: string;
  readonly programs: KubernetesPrograms;
  readonly port: number;
  readonly tokens: { readonly admin: string; readonly powerless: string };
  readonly children: ChildProcess[];
}

/** @throws Error the programs are not installed, or one of them does not start */
export async function startLocalCluster(): Promise<LocalCluster> {
  const programs = installedKubernetes(process.env);
  if (programs === null) throw new Error('Cannot start a cluster: its programs are not installed');
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'lc-')));
  const token = (): string => randomBytes(24).toString('hex');
  const tokens = { admin: token(), powerless: token() };
  const parts: Parts = { dir, programs, port: await freePort(), tokens, children: [] };
  const kill = (): void => parts.children.forEach((child) => void child.kill('SIGKILL'));
  process.once('exit', kill);
  const close = async (): Promise<void> => {
    process.off('exit', kill);
    // The last one first: one that loses its server would only complain.
    for (const child of [...parts.children].reverse()) await ended(child);
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const store = await startStore(parts);
    await startApiServer(parts, store);
    startNodes(parts);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    kubeconfig: (namespace) => writeKubeconfig(parts, tokens.admin, namespace),
    powerless: (namespace) => writeKubeconfig(parts, tokens.powerless, namespace),
    certificate: {
      cert: path.join(dir, 'certs', 'apiserver.crt'),
      key: path.join(dir, 'certs', 'apiserver.key'),
    },
    close,
  };
}

/** A test needs no bytes after a power cut. */
async function startStore({ dir, programs, children }: Parts): Promise<string> {
  const [clients, peers] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const args = [
    ...['--name', 'local', '--data-dir', path.join(dir, 'etcd'), '--unsafe-no-fsync'],
    ...['--listen-client-urls', clients, '--advertise-client-urls', clients],
    ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
    ...['--initial-cluster', `local=${peers}`],
  ];
  children.push(launch(dir, programs.etcd, args));
  return clients;
}

async function startApiServer(parts: Parts, store: string): Promise<void> {
  const { dir, programs, port, tokens, children } = parts;
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(dir, name), text, { mode: 0o600 });
    return path.join(dir, name);
  };
  const users = [`${tokens.admin},admin,1,"system:masters"`, `${tokens.powerless},powerless,2`];
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const args = [
    ...[`--etcd-servers=${store}`, '--bind-address=127.0.0.1', `--secure-port=${port}`],
    '--advertise-address=127.0.0.1',
    ...[`--cert-dir=${path.join(dir, 'certs')}`, '--service-cluster-ip-range=10.96.0.0/24'],
    ...[`--token-auth-file=${file('tokens', `${users.join('\n')}\n`)}`, '--authorization-mode=RBAC'],
    ...['--anonymous-auth=false', '--endpoint-reconciler-type=none', '--profiling=false'],
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('account.pub', publicKey)}`,
    `--service-account-signing-key-file=${file('account.key', privateKey)}`,
    // Accounts are made by a controller, and there is none.
    '--disable-admission-plugins=ServiceAccount',
    // A store as old as Debian's tells no progress of a watch, and a list from a cache would wait for it.
    ...['--watch-cache=false', '--feature-gates=WatchList=false,SizeBasedListCostEstimate=false'],
  ];
  const child = launch(dir, programs.apiServer, args);
  children.push(child);
  for (const until = Date.now() + START_MS; Date.now() < until; await pause(POLL_MS)) {
    if (child.exitCode !== null) break;
    if (await isReady(parts)) return;
  }
  throw new Error(`Cannot start the API server: ${logOf(dir, programs.apiServer)}`);
}

function isReady({ port, tokens }: Parts): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false, agent: false };
    const call = request({ ...options, headers: { authorization: `Bearer ${tokens.admin}` } }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.on('error', () => resolve(false));
    call.end();
  });
}

function startNodes(parts: Parts): void {
  const { dir, programs, children, tokens } = parts;
  const kubeconfig = writeKubeconfig(parts, tokens.admin, 'default');
  const args = [
    ...[`--kubeconfig=${kubeconfig}`, `--cidr=${POD_NETWORK}`, '--node-ip=127.0.0.1'],
    ...['--manage-all-nodes=false', `--manage-nodes-with-label-selector=${KWOK_LABEL}=`],
  ];
  children.push(launch(dir, programs.kwok, args));
}

function launch(dir: string, program: string, args: readonly string[]): ChildProcess {
  const log = openSync(path.join(dir, `${path.basename(program)}.log`), 'a');
  const child = spawn(program, [...args], { cwd: dir, stdio: ['ignore', log, log] });
  closeSync(log);
  child.on('error', () => undefined);
  return child;
}

function logOf(dir: string, program: string): string {
  return readFileSync(path.join(dir, `${path.basename(program)}.log`), 'utf8').slice(-LOG_TAIL_BYTES);
}

/** The server certifies itself, and its certificate says so. */
function writeKubeconfig({ dir, port }: Parts, token: string, namespace: string): string {
  const cluster = {
    server: `https://127.0.0.1:${port}`,
    'certificate-authority': path.join(dir, 'certs', 'apiserver.crt'),
  };
  const file = path.join(dir, `kubeconfig-${randomBytes(4).toString('hex')}`);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'local',
    clusters: [{ name: 'local', cluster }],
    users: [{ name: 'local', user: { token } }],
    contexts: [{ name: 'local', context: { cluster: 'local', user: 'local', namespace } }],
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
