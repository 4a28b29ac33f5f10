/**
 * A machine within this one for a cluster: a network, mounts and processes of its own, which all end with its first
 * process. Rules of the firewall, network links and mounts of a cluster are therefore never this machine's, but for one
 * link to it, which goes with the other end.
 * Owns that process, its control groups, what the kubelet changes for the whole kernel, and the end of all of it.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hierarchies, PREFIX, removeMachine } from '../cluster-down.js';
import { end, launch, logOf } from '../own-process.ts';

/** One cluster at a time: the second cannot make the link. */
const LINK = 'parley-k8s';
const HOST_ADDRESS = '10.235.0.1';
const OWN_ADDRESS = '10.235.0.2';
/** Address of the node, which its pods share a bridge with. */
export const NODE_ADDRESS = '10.233.0.1';
export const POD_NETWORK = '10.233.0.0/16';
export const SERVICE_NETWORK = '10.234.0.0/24';
export const BRIDGE = 'pods0';
const KERNEL_SETTINGS = ['vm/overcommit_memory', 'vm/panic_on_oom', 'kernel/panic', 'kernel/panic_on_oops'];
/** Folders of the system that programs of a cluster write to, wherever their options say. */
const OWN_FOLDERS = ['/run', '/var/lib', '/var/log'];
const LOOK_MS = 50;
const START_MS = 10_000;

/** Whether a cluster goes on when the tests have ended; `npm run cluster:down` ends it. */
export const isKept = (): boolean => process.env['PARLEY_CLUSTER_KEEP'] !== undefined;

export interface Machine {
  readonly dir: string;
  /** Below every control group of the kernel. */
  readonly controlGroup: string;
  /** Starts a program that goes on until the machine ends. */
  launch(program: string, args: readonly string[], env?: Readonly<Record<string, string>>): ChildProcess;
  /** Runs a program in it; its standard output. @throws with what it said */
  run(program: string, args: readonly string[]): string;
  /** End of what that program said. */
  logOf(program: string): string;
  close(): Promise<void>;
}

/** @throws Error another cluster is there, or the kernel refuses */
export async function startMachine(firstProcess: string): Promise<Machine> {
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), PREFIX)));
  const controlGroup = path.basename(dir);
  const settings = KERNEL_SETTINGS.map((name) => [name, readFileSync(`/proc/sys/${name}`, 'utf8')] as const);
  const flags = ['--net', '--mount', '--pid', '--fork', '--kill-child=SIGKILL', '--mount-proc'];
  const machineOf = ['unshare', ...flags, 'sh', '-c', `${mounts(dir)}exec "$0"`, firstProcess];
  // A process of tests that is killed cannot clean up, so the kernel does.
  const bound = isKept() ? [] : ['--pdeathsig', 'KILL'];
  const first = spawn('setpriv', [...bound, ...machineOf], { stdio: ['ignore', 'ignore', 'inherit'] });
  first.on('error', () => undefined);
  const close = async (): Promise<void> => {
    await end(first);
    await removeMachine(dir);
    for (const [name, value] of settings) writeFileSync(`/proc/sys/${name}`, value);
  };
  try {
    const pid = await firstChildOf(first, firstProcess);
    const inside = ['--target', String(pid), '--net', '--mount', '--pid', '--'];
    const machine: Machine = {
      ...{ dir, controlGroup, close },
      launch: (program, args, env = {}) =>
        launch(dir, ['nsenter', ...inside, program, ...args], {
          name: path.basename(program),
          env: { ...process.env, ...env },
        }),
      run: (program, args) =>
        execFileSync('nsenter', [...inside, program, ...args], { encoding: 'utf8', stdio: 'pipe' }),
      logOf: (program) => logOf(dir, program),
    };
    makeGroups(controlGroup);
    connect(machine, pid);
    return machine;
  } catch (error) {
    await close();
    throw error;
  }
}

function mounts(dir: string): string {
  const own = OWN_FOLDERS.map((folder) => {
    const from = path.join(dir, 'root', folder);
    mkdirSync(from, { recursive: true });
    return `mount --bind ${from} ${folder}`;
  });
  // What a pod mounts must be seen by the kubelet, and the reverse.
  return ['set -e', ...own, 'mount --make-rshared /', ''].join('\n');
}

async function firstChildOf(unshare: ChildProcess, program: string): Promise<number> {
  for (const until = Date.now() + START_MS; Date.now() < until; await pause(LOOK_MS)) {
    if (unshare.exitCode !== null || unshare.pid === undefined) break;
    const children = readFileSync(`/proc/${unshare.pid}/task/${unshare.pid}/children`, 'utf8').trim();
    const pid = Number(children);
    // Its mounts are done once it is what it becomes.
    if (pid > 0 && readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(`${program}\0`)) return pid;
  }
  throw new Error('Cannot start a cluster: the kernel refuses a machine within this one');
}

function connect(machine: Machine, pid: number): void {
  const host = (...args: readonly string[]): void => void execFileSync('ip', args, { stdio: 'pipe' });
  const inside = (...args: readonly string[]): void => void machine.run('ip', args);
  host('link', 'add', LINK, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid));
  host('address', 'add', `${HOST_ADDRESS}/30`, 'dev', LINK);
  host('link', 'set', LINK, 'up');
  inside('link', 'set', 'lo', 'up');
  inside('address', 'add', `${OWN_ADDRESS}/30`, 'dev', 'eth0');
  inside('link', 'set', 'eth0', 'up');
  inside('route', 'add', 'default', 'via', HOST_ADDRESS);
  inside('link', 'add', BRIDGE, 'type', 'bridge');
  inside('address', 'add', `${NODE_ADDRESS}/24`, 'dev', BRIDGE);
  inside('link', 'set', BRIDGE, 'up');
  for (const network of [POD_NETWORK, SERVICE_NETWORK]) host('route', 'add', network, 'via', OWN_ADDRESS);
  const settings = ['net/ipv4/ip_forward', 'net/bridge/bridge-nf-call-iptables'];
  machine.run('sh', ['-c', settings.map((name) => `echo 1 > /proc/sys/${name}`).join(' && ')]);
}

/** The one of version 2 has no limits to set here; the containers' programs make groups in it by themselves. */
function makeGroups(name: string): void {
  for (const controller of hierarchies().filter((at) => path.basename(at) !== 'unified')) {
    mkdirSync(path.join(controller, name), { recursive: true });
    if (path.basename(controller) !== 'cpuset') continue;
    // A group of processors is empty at first, and nothing can run in it.
    for (const file of ['cpuset.cpus', 'cpuset.mems'])
      writeFileSync(path.join(controller, name, file), readFileSync(path.join(controller, file)));
  }
}
