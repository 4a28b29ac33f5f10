/**
 * A Docker daemon for tests and chaos: the one of this machine where it answers, else one of their own.
 * Owns starting it without a network, below a temporary folder, and its end with everything it ran. One for each
 * process; the reason why there is none is a sentence.
 */
import { spawnSync, type ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { descendantsOf } from '../runtimes/process/process-table.ts';
import { commandLineOf, end, launch, logOf, trySignal } from './own-process.ts';

const USUAL_SOCKET = '/var/run/docker.sock';
/** Time a daemon gets to answer; one that takes longer does not work here. */
const START_MS = 60_000;
const POLL_MS = 100;

interface OwnDaemon {
  readonly socket: string;
  readonly dir: string;
  /** A program of its own, as on a host: what runs does not end with the daemon, however that ends. */
  readonly containerd: ChildProcess;
  child: ChildProcess;
}

let own: OwnDaemon | null = null;
let found: { readonly socket: string } | { readonly missing: string } | null = null;

/** Why no daemon can be asked here; null when one answers. */
export function dockerdMissing(): string | null {
  found ??= findDaemon();
  return 'missing' in found ? found.missing : null;
}

/** Socket of the daemon of this test file. @throws Error there is none */
export function dockerSocket(): string {
  found ??= findDaemon();
  if ('missing' in found) throw new Error(`Cannot use Docker: ${found.missing}`);
  return found.socket;
}

/** Whether the daemon was started here, and so may be ended and started again. */
export const isOwnDaemon = (): boolean => own !== null;

/**
 * Ends the daemon with that signal, and starts it again over the same files, after `whileAway`: the start blocks, so
 * nothing of this process sees that it is away but that. @throws Error it is not ours
 */
export async function restartDaemon(
  signal: 'SIGTERM' | 'SIGKILL',
  whileAway: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  if (own === null) throw new Error('Cannot restart Docker: the daemon is not of this test');
  const { dir, socket } = own;
  await end(own.child, signal);
  await whileAway();
  own.child = launchDaemon(dir, socket);
  const problem = becomesReady(own);
  if (problem !== null) throw new Error(`Cannot restart Docker: ${problem}`);
}

/** Removes whatever the daemon still runs, ends it and removes its files. Nothing to do is success. */
export async function closeDaemon(): Promise<void> {
  if (own === null) return;
  const { socket, dir, child, containerd } = own;
  own = null;
  found = null;
  ask(socket, REMOVE_ALL);
  await end(child, 'SIGTERM');
  await end(containerd, 'SIGTERM');
  await endShims(dir);
  removeWithMounts(dir);
}

/** A daemon that is killed while a container starts may forget it: its shim, and what that began, go on without it. */
async function endShims(dir: string): Promise<void> {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  for (const shim of pids.filter((pid) => commandLineOf(pid).includes(`\0-address\0${dir}/`)))
    for (const pid of [...(await descendantsOf(shim)), shim]) trySignal(pid, 'SIGKILL');
}

function findDaemon(): NonNullable<typeof found> {
  if (process.platform !== 'linux') return { missing: 'dockerd runs on Linux only' };
  if (ask(USUAL_SOCKET, PING) === null) return { socket: USUAL_SOCKET };
  if (spawnSync('dockerd', ['--version']).status !== 0) return { missing: 'dockerd is not installed' };
  if (process.getuid?.() !== 0) return { missing: 'dockerd does not answer, and only root can start it' };
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'pd-')));
  const socket = path.join(dir, 'd.sock');
  own = { socket, dir, containerd: launchContainerd(dir), child: launchDaemon(dir, socket) };
  const problem = becomesReady(own);
  if (problem === null) return { socket };
  for (const child of [own.child, own.containerd]) child.kill('SIGKILL');
  own = null;
  removeWithMounts(dir);
  return { missing: problem };
}

function launchContainerd(dir: string): ChildProcess {
  const config = path.join(dir, 'containerd.toml');
  writeFileSync(config, 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n');
  const roots = ['--root', path.join(dir, 'c-root'), '--state', path.join(dir, 'c-state')];
  const address = ['--address', path.join(dir, 'c.sock')];
  return launch(dir, ['containerd', '--config', config, ...roots, ...address]);
}

/** Network namespaces and file systems that a daemon leaves mounted when it is killed. */
function removeWithMounts(dir: string): void {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const below = mounts
    .flatMap((line) => line.split(' ').slice(1, 2))
    .filter((at) => at.startsWith(`${dir}/`));
  for (const at of below.reverse()) spawnSync('umount', ['-l', at]);
  rmSync(dir, { recursive: true, force: true });
}

/** Containers go on while it is away; it needs no network, for ours have none. */
function launchDaemon(dir: string, socket: string): ChildProcess {
  const roots = ['--data-root', path.join(dir, 'root'), '--exec-root', path.join(dir, 'exec')];
  const network = ['--bridge', 'none', '--iptables=false', '--ip6tables=false'];
  const sockets = ['-H', `unix://${socket}`, '--containerd', path.join(dir, 'c.sock')];
  const pidFile = path.join(dir, 'pid');
  // One that was killed leaves its number there, and the next refuses to start where another process has it by now.
  rmSync(pidFile, { force: true });
  const rest = ['--pidfile', pidFile, '--live-restore'];
  return launch(dir, ['dockerd', ...roots, ...network, ...sockets, ...rest]);
}

/** Null when it answers; else the end of what it said. Waits without yielding: tests are being registered. */
function becomesReady({ socket, dir, child }: OwnDaemon): string | null {
  const until = Date.now() + START_MS;
  while (Date.now() < until && existsSync(`/proc/${child.pid ?? 0}`)) {
    if (existsSync(socket) && ask(socket, PING) === null) return null;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
    if (!isAlive(child)) break;
  }
  const log = logOf(dir, 'dockerd').trim().split('\n').at(-1) ?? '';
  return `dockerd does not start here: ${log}`;
}

/** A process that ended and was not waited for yet is a zombie: it runs no more. */
function isAlive({ pid = 0 }: ChildProcess): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

const CALL = `const call=(method,path)=>new Promise((done,fail)=>{const q=require('http').request({socketPath:process.argv[1],method,path,timeout:20000},r=>{let t='';r.on('data',c=>t+=c);r.on('end',()=>r.statusCode<300?done(t):fail(new Error(t)))});q.on('error',fail);q.on('timeout',()=>q.destroy(new Error('silent')));q.end()});`;
const PING = `${CALL}call('GET','/_ping').catch(e=>{console.error(e.message);process.exit(1)})`;
const REMOVE_ALL = `${CALL}call('GET','/containers/json?all=1').then(async t=>{for(const c of JSON.parse(t))await call('DELETE','/containers/'+c.Id+'?force=1').catch(()=>0)})`;

const NAMES = `${CALL}call('GET','/containers/json?all=1').then(t=>console.log(JSON.parse(t).map(c=>c.Names[0]).join('\\n')))`;

/** Names of the containers of ours that the daemon has, whatever they do. */
export function containersOf(socket: string): readonly string[] {
  const { stdout } = spawnSync(process.execPath, ['-e', NAMES, socket], { encoding: 'utf8' });
  return stdout.split('\n').filter((name) => name.startsWith('/parley-'));
}

/** Null when it went well. A program of its own, because nothing can be awaited while tests are registered. */
function ask(socket: string, script: string): string | null {
  const result = spawnSync(process.execPath, ['-e', script, socket], { encoding: 'utf8', timeout: START_MS });
  return result.status === 0 ? null : (result.stderr ?? '').trim();
}
