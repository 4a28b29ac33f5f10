/**
 * What other processes do to sandboxes without the orchestrator's knowledge.
 * Owns the faults by name; each returns whether it struck. The orchestrator is never notified.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Docker from 'dockerode';
import { isOwnDaemon, restartDaemon } from '../../scripts/docker-daemon.ts';
import { commandLineOf, succeeds, trySignal } from '../../scripts/own-process.ts';
import { isMissing } from '../../runtimes/on-host/record-file.ts';
import type { RandomStream } from '../../simulator/random.ts';
import { BOUNDS, type Ground } from './ground.ts';

export interface Fault {
  readonly name: string;
  strike(): Promise<boolean>;
}

/** The target of a fault, and its effect, are drawn from `random`. */
export function faultsOf(ground: Ground, random: RandomStream): readonly Fault[] {
  const common = [{ name: 'disk full', strike: async () => fillDisk(ground, random) }];
  const own = ground.kind === 'docker' ? dockerFaults(ground, random) : processFaults(ground, random);
  return [...common, ...own].map(({ name, strike }) => ({ name, strike: () => struckOrGone(strike) }));
}

/** The orchestrator may remove a sandbox before the fault reaches it: then it was not struck. */
async function struckOrGone(strike: () => Promise<boolean>): Promise<boolean> {
  try {
    return await strike();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** More than a sandbox may keep, written from outside, so that nothing inside is involved. */
function fillDisk({ dir }: Ground, random: RandomStream): boolean {
  const id = pick(namesIn(join(dir, 'data', 'sandboxes')), random);
  const workspace = join(dir, 'data', 'sandboxes', id ?? '', 'workspace');
  if (id === undefined || !existsSync(workspace)) return false;
  writeFileSync(join(workspace, 'filler'), Buffer.alloc(BOUNDS.workspaceBytes + 1024 ** 2, 1));
  return true;
}

function dockerFaults({ daemonSocket }: Ground, random: RandomStream): readonly Fault[] {
  const docker = new Docker({ socketPath: daemonSocket, host: '' });
  const onOne = (name: string, act: (container: Docker.Container) => Promise<unknown>): Fault => ({
    name,
    async strike() {
      const up = await docker.listContainers().catch(() => []);
      const ours = up.filter(({ Labels }) => Labels['dev.parley.sandbox'] !== undefined);
      const one = pick(ours, random);
      if (one === undefined) return false;
      return await succeeds(act(docker.getContainer(one.Id)));
    },
  });
  return [
    onOne('container killed', (container) => container.kill()),
    onOne('container removed', (container) => container.remove({ force: true })),
    onOne('container paused', (container) => container.pause()),
    onOne('out of memory', (container) => eatMemory(container)),
    {
      name: 'daemon restarted',
      async strike() {
        if (!isOwnDaemon()) return false;
        await restartDaemon(random.happens(0.5) ? 'SIGKILL' : 'SIGTERM');
        return true;
      },
    },
  ];
}

async function eatMemory(container: Docker.Container): Promise<void> {
  const bomb = 'const a=[];for(;;)a.push(Buffer.alloc(8388608,1))';
  const exec = await container.exec({ Cmd: ['/opt/parley/node/bin/node', '-e', bomb] });
  await exec.start({ Detach: true });
}

function processFaults({ dir }: Ground, random: RandomStream): readonly Fault[] {
  return [
    { name: 'first process killed', strike: async () => signalOne(dir, random, 'SIGKILL') },
    { name: 'agent killed', strike: async () => killInside(dir, random) },
    { name: 'first process stopped', strike: async () => signalOne(dir, random, 'SIGSTOP') },
    { name: 'group frozen', strike: async () => freezeOne(dir, random) },
  ];
}

/** The launched process of some sandbox, by its own process file. */
function launchedPid(dir: string, random: RandomStream): number | null {
  const id = pick(namesIn(join(dir, 'data', 'sandboxes')), random);
  const file = join(dir, 'data', 'sandboxes', id ?? '', 'process');
  const pid = id === undefined || !existsSync(file) ? 0 : Number(readFileSync(file, 'utf8').split('\n')[0]);
  // Process ids are reused: only a process with our folder in its command line counts.
  return pid > 1 && commandLineOf(pid).includes(dir) ? pid : null;
}

function signalOne(dir: string, random: RandomStream, signal: NodeJS.Signals): boolean {
  const pid = launchedPid(dir, random);
  return pid !== null && trySignal(pid, signal);
}

function killInside(dir: string, random: RandomStream): boolean {
  const pid = launchedPid(dir, random);
  if (pid === null) return false;
  const inside = childrenOf(pid).flatMap(childrenOf).flatMap(childrenOf);
  const one = pick(inside, random);
  return one !== undefined && trySignal(one, 'SIGKILL');
}

/** Through the group that the record names. */
function freezeOne(dir: string, random: RandomStream): boolean {
  const id = pick(namesIn(join(dir, 'data', 'sandboxes')), random);
  const record = join(dir, 'data', 'sandboxes', id ?? '', 'spec.json');
  if (id === undefined || !existsSync(record)) return false;
  const { group } = JSON.parse(readFileSync(record, 'utf8')) as {
    readonly group: { readonly version: number; readonly directories: { readonly freezer?: string } } | null;
  };
  const directory = group?.directories.freezer;
  if (directory === undefined || !existsSync(directory)) return false;
  try {
    if (group?.version === 1) writeFileSync(join(directory, 'freezer.state'), 'FROZEN');
    else writeFileSync(join(directory, 'cgroup.freeze'), '1');
    return true;
  } catch {
    return false;
  }
}

function childrenOf(pid: number): number[] {
  try {
    const told = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
    return told.split('\n').map(Number).filter(Boolean);
  } catch {
    return [];
  }
}

export function namesIn(dir: string): readonly string[] {
  return existsSync(dir) ? readdirSync(dir) : [];
}

export function pick<T>(items: readonly T[], random: RandomStream): T | undefined {
  return items[Math.floor(random.next() * items.length)];
}
