/**
 * Pods as real processes: each container in namespaces of its own, as a node would run it.
 * Owns the translation from a pod's form to bubblewrap: user, read-only root, mounts, environment, network. A pod has
 * only its loopback; what asks for its address is led there through a socket, as the network of a cluster would. Where
 * root runs the test, users of a pod are users of this side, as on a node; else all of them are the user of the test.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Server } from 'node:net';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { keepDescriptorsFromChildren } from '../../../../runtimes/on-host/inherited-descriptors.ts';
import { removeTree } from '../../../../runtimes/on-host/remove-tree.ts';
import { sandboxFilter } from '../../../../runtimes/on-host/seccomp/sandbox-filter.ts';
import type { ApiObject, Container, Volume } from './api-object.ts';
import type { ContainerEnd, PodRunner, RunningPod } from './kubelet.ts';
import type { ObjectStore } from './object-store.ts';
import { nextAddress } from './pod-addresses.ts';
import { AGENT_PORT, FIRST_PROCESS, NETWORK_DIR, NETWORK_PROGRAM, firstScript } from './pod-programs.ts';

const IS_ROOT = process.getuid?.() === 0;
const FILTER_DESCRIPTOR = 4;

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
  // A node is no child of the process that runs the test.
  keepDescriptorsFromChildren();
  const logs = new Map<string, string>();
  const volumeDir = (uid: string): string => path.join(options.dir, 'volumes', uid);
  return {
    volumeDir,
    log: (pod) => (logs.has(pod) ? readFileSync(logs.get(pod) ?? '', 'utf8') : ''),
    removeVolume: (uid) => removeTree(volumeDir(uid)),
    async run(pod) {
      const dir = path.join(options.dir, 'pods', pod.metadata.uid);
      mkdirSync(path.join(dir, 'network'), { recursive: true });
      chmodSync(path.join(dir, 'network'), 0o777);
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
  const filter = openFilter(place);
  const command = hasNetwork ? [FIRST_PROCESS] : container.command;
  const script = path.join(place.dir, 'first');
  writeFileSync(script, hasNetwork ? firstScript(container.command) : '');
  const input = openSync(script, 'r');
  const whole = [...bwrapArguments(place, container), '--', ...becoming(place, container), ...command];
  const filtered = filter === null ? [] : ['--seccomp', String(FILTER_DESCRIPTOR)];
  const child = spawn('bwrap', ['--info-fd', '3', ...filtered, ...whole], {
    stdio: [input, out, out, 'pipe', filter ?? 'ignore'],
    env: {},
    cwd: '/',
  });
  for (const descriptor of [input, out, filter]) if (descriptor !== null) closeSync(descriptor);
  return { child, innerPid: readInnerPid(child.stdio[3] as Readable) };
}

/** Where a pod asks for the profile of its node: the list of calls that our other runtimes have stands in for it. */
function openFilter({ pod, dir }: PodPlace): number | null {
  const profile = pod.spec?.securityContext?.['seccompProfile'] as { readonly type?: string } | undefined;
  const bytes = profile?.type === 'RuntimeDefault' ? sandboxFilter(process.arch) : null;
  if (bytes === null) return null;
  const file = path.join(dir, 'filter');
  writeFileSync(file, bytes);
  return openSync(file, 'r');
}

function bwrapArguments({ pod, sources, dir, options }: PodPlace, container: Container): readonly string[] {
  const targets = (container.volumeMounts ?? []).map(({ mountPath }) => mountPath);
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
  const { uid, gid, rights } = identityOf({ pod, container });
  const asUser = IS_ROOT
    ? (uid === 0 ? rights : CHANGE_USER).flatMap((right) => ['--cap-add', `CAP_${right}`])
    : ['--unshare-user', '--uid', String(uid), '--gid', String(gid)];
  return [
    ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--as-pid-1'],
    ...['--hostname', pod.spec?.hostname ?? pod.metadata.name],
    ...['--cap-drop', 'ALL', ...asUser, '--die-with-parent', '--new-session'],
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
    ...foldersTo(['/etc/any', '/opt/parley/any', NETWORK_DIR, ...targets]),
    ...['--symlink', '/usr/bin/sh', FIRST_PROCESS],
    ...['--ro-bind-try', '/etc/alternatives', '/etc/alternatives'],
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

/** What mounts are made in: left to bubblewrap they would open for root only. */
function foldersTo(targets: readonly string[]): readonly string[] {
  const above = targets.flatMap((target) => {
    const parts = path.dirname(target).split('/').slice(1);
    return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
  });
  return [...new Set(above)].flatMap((folder) => ['--perms', '0755', '--dir', folder]);
}

/** What it takes to become a user without these rights. */
const CHANGE_USER = ['SETUID', 'SETGID', 'SETPCAP'];

interface Identity {
  readonly uid: number;
  readonly gid: number;
  /** What the container adds. */
  readonly rights: readonly string[];
}

function identityOf({
  pod,
  container,
}: {
  readonly pod: ApiObject;
  readonly container: Container;
}): Identity {
  const security = { ...pod.spec?.securityContext, ...container.securityContext };
  const { add = [] } = (security['capabilities'] ?? {}) as { readonly add?: readonly string[] };
  return { uid: Number(security['runAsUser']), gid: Number(security['runAsGroup']), rights: add };
}

/** Before the program of the container, where its user is one of this side. */
function becoming({ pod }: PodPlace, container: Container): readonly string[] {
  const { uid, gid, rights } = identityOf({ pod, container });
  if (!IS_ROOT) return [];
  // A container can come to no other right than those it has; bubblewrap leaves that open.
  const bounding = ['-all', ...rights.map((right) => `+${right.toLowerCase()}`)].join();
  if (uid === 0) return ['setpriv', '--bounding-set', bounding, '--inh-caps', '-all', '--'];
  const group = String(pod.spec?.securityContext?.['fsGroup'] ?? gid);
  const user = ['--reuid', String(uid), '--regid', String(gid), '--groups', group];
  return ['setpriv', ...user, '--bounding-set', '-all', '--inh-caps', '-all', '--'];
}

/** As a node gives a volume to the group of a pod, on the way down to it only. */
function handOver(directory: string, pod: ApiObject): void {
  const group = Number(pod.spec?.securityContext?.['fsGroup'] ?? 0);
  if (!IS_ROOT) return;
  chownSync(directory, 0, group);
  chmodSync(directory, 0o2777);
}

function volumeSources(
  options: BwrapRunnerOptions,
  pod: ApiObject,
  dir: string,
): ReadonlyMap<string, string> {
  return new Map(
    (pod.spec?.volumes ?? []).map((volume) => [volume.name, volumeSource(options, { pod, volume, dir })]),
  );
}

interface VolumeOrder {
  readonly pod: ApiObject;
  readonly volume: Volume;
  /** Of the pod. */
  readonly dir: string;
}

function volumeSource(options: BwrapRunnerOptions, { pod, volume, dir }: VolumeOrder): string {
  const { persistentVolumeClaim: claim, secret, name } = volume;
  if (claim !== undefined) {
    const { uid } = options.store().get('persistentvolumeclaims', claim.claimName).metadata;
    const directory = path.join(options.dir, 'volumes', uid);
    mkdirSync(directory, { recursive: true });
    handOver(directory, pod);
    return directory;
  }
  const source = path.join(dir, 'volumes', name);
  mkdirSync(source, { recursive: true });
  if (secret === undefined) handOver(source, pod);
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
