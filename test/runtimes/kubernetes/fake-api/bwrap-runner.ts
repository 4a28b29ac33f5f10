/**
 * Pods as real processes: each container in namespaces of its own, as a node would run it.
 * Owns the translation from a pod's form to bubblewrap: user, read-only root, mounts, environment, network. A pod has
 * only its loopback; what asks for its address is led there through a socket, as the network of a cluster would.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Server } from 'node:net';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { removeTree } from '../../../../runtimes/on-host/remove-tree.ts';
import type { ApiObject, Container, Volume } from './api-object.ts';
import type { ContainerEnd, PodRunner, RunningPod } from './kubelet.ts';
import type { ObjectStore } from './object-store.ts';
import { nextAddress } from './pod-addresses.ts';

const AGENT_PORT = 8_000;
const NETWORK_DIR = '/run/pod-network';
/** Runs inside: leads a socket that the node sees to the loopback of the pod. */
const NETWORK_PROGRAM = `
const net = require('net');
net.createServer({ allowHalfOpen: true }, (outer) => {
  const inner = net.connect({ host: '127.0.0.1', port: ${AGENT_PORT}, allowHalfOpen: true });
  for (const [a, b] of [[outer, inner], [inner, outer]]) {
    a.on('error', () => b.destroy());
    a.on('close', () => b.destroy());
    a.pipe(b);
  }
}).listen('${NETWORK_DIR}/pod.sock');
`;
const NETWORK_SCRIPT = `env -i /usr/bin/env node ${NETWORK_DIR}/network.cjs & exec "$@"`;

export interface BwrapRunnerOptions {
  readonly dir: string;
  /** Where volumes and secrets are looked up. */
  readonly store: () => Pick<ObjectStore, 'get'>;
  /** What the image has in `/opt/parley`, by name. */
  readonly programs: Readonly<Record<string, string>>;
}

export function createBwrapRunner(
  options: BwrapRunnerOptions,
): PodRunner & { volumeDir(uid: string): string } {
  const logs = new Map<string, string>();
  const volumeDir = (uid: string): string => path.join(options.dir, 'volumes', uid);
  return {
    volumeDir,
    log: (pod) => (logs.has(pod) ? readFileSync(logs.get(pod) ?? '', 'utf8') : ''),
    removeVolume: (uid) => removeTree(volumeDir(uid)),
    async run(pod) {
      const dir = path.join(options.dir, 'pods', pod.metadata.uid);
      mkdirSync(path.join(dir, 'network'), { recursive: true });
      writeFileSync(path.join(dir, 'network', 'network.cjs'), NETWORK_PROGRAM);
      const log = path.join(dir, 'log');
      logs.set(pod.metadata.name, log);
      const place: PodPlace = {
        pod,
        dir,
        log,
        sources: volumeSources(options, pod, dir),
        options,
        volumeDir,
      };
      for (const container of pod.spec?.initContainers ?? []) {
        const { exitCode } = await ended(launch(place, container, false).child);
        if (exitCode !== 0) throw new Error(`init container failed: ${readFileSync(log, 'utf8')}`);
      }
      const [main] = pod.spec?.containers ?? [];
      if (main === undefined) throw new Error('a pod without a container');
      return await started(place, main);
    },
  };
}

interface PodPlace {
  readonly pod: ApiObject;
  readonly dir: string;
  readonly log: string;
  /** Directory on the node of each volume. */
  readonly sources: ReadonlyMap<string, string>;
  readonly options: BwrapRunnerOptions;
  readonly volumeDir: (uid: string) => string;
}

async function started(place: PodPlace, main: Container): Promise<RunningPod> {
  const { child, innerPid } = launch(place, main, true);
  const end = ended(child);
  const address = nextAddress();
  const server = await listen(address, path.join(place.dir, 'network', 'pod.sock'));
  const finished = end.then(async (how) => {
    await new Promise<void>((resolve) => server.close(() => resolve()));
    rmSync(path.join(place.dir, 'volumes'), { recursive: true, force: true });
    return how;
  });
  return {
    address,
    ended: finished,
    async stop(graceMs) {
      const pid = await Promise.race([innerPid, end.then(() => null)]);
      if (pid !== null && graceMs > 0) signal(pid, 'SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await finished;
      clearTimeout(late);
    },
  };
}

function launch(
  place: PodPlace,
  container: Container,
  hasNetwork: boolean,
): { readonly child: ChildProcess; readonly innerPid: Promise<number | null> } {
  const out = openSync(place.log, 'a+');
  const command = hasNetwork
    ? ['/bin/sh', '-c', NETWORK_SCRIPT, 'sh', ...container.command]
    : container.command;
  const child = spawn('bwrap', ['--info-fd', '3', ...bwrapArguments(place, container), '--', ...command], {
    stdio: ['ignore', out, out, 'pipe'],
    env: {},
    cwd: '/',
  });
  closeSync(out);
  return { child, innerPid: readInnerPid(child.stdio[3] as Readable) };
}

function bwrapArguments({ pod, sources, dir, options }: PodPlace, container: Container): readonly string[] {
  const mounts = (container.volumeMounts ?? []).flatMap(
    ({ name, mountPath, subPath = '', readOnly = false }) => {
      const source = path.join(sources.get(name) ?? '', subPath);
      mkdirSync(source, { recursive: true });
      return [readOnly ? '--ro-bind' : '--bind', source, mountPath];
    },
  );
  const programs = Object.entries(options.programs).flatMap(([name, file]) => [
    '--ro-bind',
    file,
    `/opt/parley/${name}`,
  ]);
  const variables = (container.env ?? []).flatMap(({ name, value, valueFrom }) => {
    const encoded =
      valueFrom === undefined
        ? null
        : secretData(options, valueFrom.secretKeyRef.name)[valueFrom.secretKeyRef.key];
    return ['--setenv', name, encoded == null ? (value ?? '') : Buffer.from(encoded, 'base64').toString()];
  });
  const security = pod.spec?.securityContext ?? {};
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--as-pid-1'],
    ...['--uid', String(security['runAsUser']), '--gid', String(security['runAsGroup'])],
    ...[
      '--hostname',
      pod.spec?.hostname ?? pod.metadata.name,
      '--cap-drop',
      'ALL',
      '--die-with-parent',
      '--new-session',
    ],
    ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/sbin', '/sbin'],
    ...[
      '--symlink',
      'usr/lib',
      '/lib',
      '--symlink',
      'usr/lib64',
      '/lib64',
      '--proc',
      '/proc',
      '--dev',
      '/dev',
    ],
    ...['--ro-bind-try', '/etc/alternatives', '/etc/alternatives', '--dir', '/etc'],
    ...programs,
    ...mounts,
    ...['--bind', path.join(dir, 'network'), NETWORK_DIR],
    ...(container.securityContext?.['readOnlyRootFilesystem'] === true ? ['--remount-ro', '/'] : []),
    ...[
      '--clearenv',
      '--setenv',
      'PATH',
      '/usr/local/bin:/usr/bin:/bin',
      '--setenv',
      'KUBERNETES_SERVICE_HOST',
      '10.0.0.1',
    ],
    ...variables,
    ...['--chdir', container.workingDir ?? '/'],
  ];
}

function volumeSources(
  options: BwrapRunnerOptions,
  pod: ApiObject,
  dir: string,
): ReadonlyMap<string, string> {
  return new Map(
    (pod.spec?.volumes ?? []).map((volume) => [volume.name, volumeSource(options, volume, dir)]),
  );
}

function volumeSource(options: BwrapRunnerOptions, volume: Volume, dir: string): string {
  const { persistentVolumeClaim: claim, secret, name } = volume;
  if (claim !== undefined) {
    const { uid } = options.store().get('persistentvolumeclaims', claim.claimName).metadata;
    return path.join(options.dir, 'volumes', uid);
  }
  const source = path.join(dir, 'volumes', name);
  mkdirSync(source, { recursive: true });
  const data = secret === undefined ? {} : secretData(options, secret.secretName);
  for (const { key, path: file } of secret?.items ?? []) {
    writeFileSync(path.join(source, file), Buffer.from(data[key] ?? '', 'base64'));
  }
  return source;
}

function secretData({ store }: BwrapRunnerOptions, name: string): Readonly<Record<string, string>> {
  return store().get('secrets', name).data ?? {};
}

/** The number that bubblewrap's child has on this side; null when it never came to be. */
async function readInnerPid(stream: Readable): Promise<number | null> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  try {
    return (JSON.parse(text) as { readonly 'child-pid': number })['child-pid'];
  } catch {
    return null;
  }
}

function ended(child: ChildProcess): Promise<ContainerEnd> {
  return new Promise((resolve) => {
    child.once('error', () => resolve({ exitCode: 128, reason: 'StartError' }));
    child.once('exit', (code, by) => {
      const exitCode = code ?? (by === 'SIGKILL' ? 137 : 1);
      resolve({ exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' });
    });
  });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself.
  }
}

function listen(address: string, socketPath: string): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (outer) => {
    if (!existsSync(socketPath)) {
      outer.destroy();
      return;
    }
    const inner = connect({ path: socketPath, allowHalfOpen: true });
    for (const [here, there] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      here.on('error', () => there.destroy());
      here.on('close', () => there.destroy());
      here.pipe(there);
    }
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(AGENT_PORT, address, () => resolve(server));
  });
}
