/**
 * The control groups of one incarnation.
 * Owns making them with their limits, what they report, freezing, and their end with everything in them.
 */
import { existsSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxLimits } from '../../../ports/sandbox-runtime.ts';
import { isFrozen, setFrozen, type FreezerGroup, textOrEmpty } from '../../on-host/kernel-freezer.ts';
import type { CgroupHome, Controller } from './find-cgroups.ts';

/** Directories by controller; with version 2 one for all. Plain data: it stands in the sandbox's record. */
export interface SandboxGroup {
  readonly version: 1 | 2;
  readonly directories: Readonly<Partial<Record<Controller, string>>>;
}

/** The kernel's own period, and the smallest share it takes. */
const CPU_PERIOD_US = 100_000;
const CPU_QUOTA_MIN_US = 1_000;

/** Where the groups of an incarnation will be; nothing is made yet, so that it can be written down before. */
export function groupOf(home: CgroupHome, name: string): SandboxGroup {
  const entries = Object.entries(home.parents).map(([controller, parent]) => [
    controller,
    join(parent, name),
  ]);
  return { version: home.version, directories: Object.fromEntries(entries) as SandboxGroup['directories'] };
}

/** @throws Error the kernel refuses a group or a limit */
export async function makeGroup(group: SandboxGroup, limits: SandboxLimits): Promise<void> {
  for (const directory of directoriesOf(group)) await mkdir(directory, { recursive: true });
  for (const [controller, file, value] of settingsOf(group.version, limits)) {
    const directory = group.directories[controller];
    if (directory === undefined) continue;
    const path = join(directory, file);
    // A kernel without swap accounting has no such file; then memory alone is bounded.
    if (file.includes('sw') && !existsSync(path)) continue;
    await writeFile(path, value);
  }
}

/** What a process writes its number to, to be in the group with all it starts. */
export function entrancesOf(group: SandboxGroup): readonly string[] {
  return directoriesOf(group).map((directory) => join(directory, 'cgroup.procs'));
}

export async function processesIn(group: SandboxGroup): Promise<readonly number[]> {
  const texts = await Promise.all(entrancesOf(group).map((file) => textOrEmpty(file)));
  return [...new Set(texts.flatMap((text) => text.split('\n').filter(Boolean).map(Number)))];
}

/** How often the kernel ended a process of the group for its memory. */
export async function outOfMemoryKills(group: SandboxGroup): Promise<number> {
  const directory = group.directories.memory;
  if (directory === undefined) return 0;
  const file = group.version === 1 ? 'memory.oom_control' : 'memory.events';
  const text = await textOrEmpty(join(directory, file));
  return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** Null where no freezer is mounted for it. */
function freezerOfGroup({ version, directories }: SandboxGroup): FreezerGroup | null {
  const directory = directories.freezer;
  return directory === undefined ? null : { version, directory };
}

export async function isGroupFrozen(group: SandboxGroup): Promise<boolean> {
  const freezer = freezerOfGroup(group);
  return freezer !== null && (await isFrozen(freezer));
}

/** As the kernel's freezer: only requests it, and what has gone is nothing to freeze. */
export async function setGroupFrozen(group: SandboxGroup, frozen: boolean): Promise<void> {
  const freezer = freezerOfGroup(group);
  if (freezer !== null) await setFrozen(freezer, frozen);
}

/** Kills everything inside once; repeat until nothing is left, for what is inside may fork meanwhile. */
export async function killGroup(group: SandboxGroup): Promise<void> {
  const directory = group.directories.freezer;
  if (group.version === 2 && directory !== undefined && existsSync(join(directory, 'cgroup.kill'))) {
    await writeFile(join(directory, 'cgroup.kill'), '1');
  } else {
    for (const pid of await processesIn(group)) kill(pid);
  }
  // With version 1 a frozen process dies only when it is thawed.
  await setGroupFrozen(group, false);
}

/** Removes the directories. Gone is success. @throws Error something is still inside */
export async function removeGroup(group: SandboxGroup): Promise<void> {
  for (const directory of directoriesOf(group)) {
    await rmdir(directory).catch((error: unknown) => {
      if (existsSync(directory)) throw error;
    });
  }
}

function settingsOf(
  version: 1 | 2,
  { memoryBytes, processes, cpus }: SandboxLimits,
): readonly (readonly [Controller, string, string])[] {
  const quota = cpus === null ? null : Math.max(CPU_QUOTA_MIN_US, Math.round(cpus * CPU_PERIOD_US));
  const memory = memoryBytes === null ? null : String(memoryBytes);
  const found: (readonly [Controller, string, string | null])[] =
    version === 1
      ? [
          ['memory', 'memory.limit_in_bytes', memory],
          // Memory and swap together: without it a bomb would go on in the swap of the host.
          ['memory', 'memory.memsw.limit_in_bytes', memory],
          ['cpu', 'cpu.cfs_period_us', quota === null ? null : String(CPU_PERIOD_US)],
          ['cpu', 'cpu.cfs_quota_us', quota === null ? null : String(quota)],
        ]
      : [
          ['memory', 'memory.max', memory],
          ['memory', 'memory.swap.max', memory === null ? null : '0'],
          ['cpu', 'cpu.max', quota === null ? null : `${quota} ${CPU_PERIOD_US}`],
        ];
  found.push(['pids', 'pids.max', processes === null ? null : String(processes)]);
  return found.flatMap(([controller, file, value]) =>
    value === null ? [] : [[controller, file, value] as const],
  );
}

function directoriesOf(group: SandboxGroup): readonly string[] {
  return [...new Set(Object.values(group.directories))];
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
