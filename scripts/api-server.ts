/**
 * etcd and an API server of Kubernetes for tests: their arguments, keys and credentials.
 * Owns what every such pair needs, wherever its programs run; the caller that starts them owns their processes.
 */
import type { ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Seconds on a quiet machine. */
const START_MS = 180_000;
const LOOK_MS = 200;

/** Address of the API server, and the folder of its files. */
export interface ServerPlace {
  readonly dir: string;
  readonly host: string;
  readonly port: number;
}

export function newToken(): string {
  return randomBytes(24).toString('hex');
}

/** A test needs no bytes after a power cut. */
export function storeArguments(dir: string, clients: string, peers: string): readonly string[] {
  return [
    ...['--name', 'local', '--data-dir', path.join(dir, 'etcd'), '--unsafe-no-fsync'],
    ...['--listen-client-urls', clients, '--advertise-client-urls', clients],
    ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
    ...['--initial-cluster', `local=${peers}`],
  ];
}

/** File of the key by which accounts are known; that of its public half is beside it. */
export const accountKeyOf = (dir: string): string => path.join(dir, 'account.key');

/** `users`: lines of the file of tokens. Writes that file and the keys of accounts. */
export function serverArguments(
  { dir, port }: ServerPlace,
  { store, services, users }: { store: string; services: string; users: readonly string[] },
): readonly string[] {
  const written = (name: string, text: string): string => {
    writeFileSync(path.join(dir, name), text, { mode: 0o600 });
    return path.join(dir, name);
  };
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return [
    ...[`--etcd-servers=${store}`, `--secure-port=${port}`, `--cert-dir=${path.join(dir, 'certs')}`],
    ...[`--service-cluster-ip-range=${services}`, '--authorization-mode=RBAC', '--anonymous-auth=false'],
    ...[`--token-auth-file=${written('tokens', `${users.join('\n')}\n`)}`, '--profiling=false'],
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${written('account.pub', publicKey)}`,
    `--service-account-signing-key-file=${written(path.basename(accountKeyOf(dir)), privateKey)}`,
    // A store as old as Debian's reports no progress of a watch, and a list from a cache would wait for it.
    ...['--watch-cache=false', '--feature-gates=WatchList=false,SizeBasedListCostEstimate=false'],
  ];
}

/** @throws Error it has ended, or is not ready in time */
export async function serverIsReady(
  place: ServerPlace,
  of: { readonly server: ChildProcess; readonly token: string; readonly said: () => string },
): Promise<void> {
  for (const until = Date.now() + START_MS; Date.now() < until; await pause(LOOK_MS)) {
    if (of.server.exitCode !== null) break;
    if (await answers(place, of.token)) return;
  }
  throw new Error(`Cannot start the API server: ${of.said()}`);
}

function answers({ host, port }: ServerPlace, token: string): Promise<boolean> {
  return new Promise((resolve) => {
    const place = { host, port, path: '/readyz', headers: { authorization: `Bearer ${token}` } };
    const call = request(
      { ...place, rejectUnauthorized: false, agent: false, timeout: 5_000 },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    call.on('timeout', () => call.destroy());
    call.on('error', () => resolve(false));
    call.end();
  });
}

/** The certificate of the server is self-signed, so it is its own authority. */
export const authorityOf = (dir: string): string => path.join(dir, 'certs', 'apiserver.crt');

/** A file of credentials: those of the token, with that namespace as the default. */
export function writeKubeconfig(
  { dir, host, port }: ServerPlace,
  token: string,
  namespace = 'default',
): string {
  const cluster = { server: `https://${host}:${port}`, 'certificate-authority': authorityOf(dir) };
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
