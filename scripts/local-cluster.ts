/**
 * A real API server of Kubernetes with etcd behind it and kwok in place of nodes, on loopback, for tests.
 * Owns the three processes, their credentials and files below a temporary folder, and the end of all of it. There is no
 * scheduler, no controller and no kubelet: kwok says of every pod on a node of its own that it runs.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '../loopback/free-port.ts';
import {
  authorityOf,
  newToken,
  serverArguments,
  serverIsReady,
  storeArguments,
  writeKubeconfig,
  type ServerPlace,
} from './api-server.ts';
import { installedKubernetes, type KubernetesPrograms } from './kubernetes-tools.js';
import { end, launch, logOf } from './own-process.ts';

/** Pods get addresses of the loopback network, so that a test can answer at them. */
const POD_NETWORK = '127.250.0.1/16';
/** Nodes with this label, empty, are kwok's; others belong to the caller that made them. */
export const KWOK_LABEL = 'kwok';

export interface LocalCluster {
  /** Credentials of an administrator, with that namespace as the default. */
  kubeconfig(namespace: string): string;
  /** Credentials of an account that may do nothing. */
  powerless(namespace: string): string;
  /** Files of the server's own certificate, for a stand-in of a node. */
  readonly certificate: { readonly cert: string; readonly key: string };
  close(): Promise<void>;
}

interface Parts extends ServerPlace {
  readonly programs: KubernetesPrograms;
  readonly tokens: { readonly admin: string; readonly powerless: string };
  readonly children: ChildProcess[];
}

/** @throws Error the programs are not installed, or one of them does not start */
export async function startLocalCluster(): Promise<LocalCluster> {
  const programs = installedKubernetes(process.env);
  if (programs === null) throw new Error('Cannot start a cluster: its programs are not installed');
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'lc-')));
  const tokens = { admin: newToken(), powerless: newToken() };
  const parts: Parts = { dir, programs, host: '127.0.0.1', port: await freePort(), tokens, children: [] };
  const kill = (): void => parts.children.forEach((child) => void child.kill('SIGKILL'));
  process.once('exit', kill);
  const close = async (): Promise<void> => {
    process.off('exit', kill);
    // The last one first: one that loses its server would only complain.
    for (const child of [...parts.children].reverse()) await end(child);
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
    certificate: { cert: authorityOf(dir), key: path.join(dir, 'certs', 'apiserver.key') },
    close,
  };
}

async function startStore({ dir, programs, children }: Parts): Promise<string> {
  const [clients, peers] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  children.push(launch(dir, [programs.etcd, ...storeArguments(dir, clients, peers)]));
  return clients;
}

async function startApiServer(parts: Parts, store: string): Promise<void> {
  const { dir, programs, tokens, children } = parts;
  const users = [`${tokens.admin},admin,1,"system:masters"`, `${tokens.powerless},powerless,2`];
  const server = launch(dir, [
    programs.apiServer,
    ...serverArguments(parts, { store, services: '10.96.0.0/24', users }),
    ...['--bind-address=127.0.0.1', '--advertise-address=127.0.0.1', '--endpoint-reconciler-type=none'],
    // Accounts are made by a controller, and there is none.
    '--disable-admission-plugins=ServiceAccount',
  ]);
  children.push(server);
  const said = (): string => logOf(dir, path.basename(programs.apiServer));
  await serverIsReady(parts, { server, token: tokens.admin, said });
}

function startNodes(parts: Parts): void {
  const { dir, programs, children, tokens } = parts;
  const kubeconfig = writeKubeconfig(parts, tokens.admin);
  const args = [
    ...[`--kubeconfig=${kubeconfig}`, `--cidr=${POD_NETWORK}`, '--node-ip=127.0.0.1'],
    ...['--manage-all-nodes=false', `--manage-nodes-with-label-selector=${KWOK_LABEL}=`],
  ];
  children.push(launch(dir, [programs.kwok, ...args]));
}
