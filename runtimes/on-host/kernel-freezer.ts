/**
 * What the kernel holds still.
 * Owns reading and setting a control group's freezer, version 1 or 2; a group that is gone has nothing to freeze.
 */
import { existsSync } from 'node:fs';
import { writeFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { groupsIn, mountsIn, placeOf } from './mounted-groups.ts';

export interface FreezerGroup {
  readonly version: 1 | 2;
  readonly directory: string;
}

export async function isFrozen({ version, directory }: FreezerGroup): Promise<boolean> {
  if (version === 1) return (await textOrEmpty(join(directory, 'freezer.state'))).trim() === 'FROZEN';
  return /^frozen 1$/m.test(await textOrEmpty(join(directory, 'cgroup.events')));
}

/** Only requests it: the kernel takes a moment, and `isFrozen` reads the state. @throws Error not allowed */
export async function setFrozen({ version, directory }: FreezerGroup, frozen: boolean): Promise<void> {
  if (!existsSync(directory)) return;
  if (version === 1) await writeFile(join(directory, 'freezer.state'), frozen ? 'FROZEN' : 'THAWED');
  else await writeFile(join(directory, 'cgroup.freeze'), frozen ? '1' : '0');
}

/**
 * The freezer that a process is in, where its path holds `name`: numbers of processes are used again, and one from
 * another host's table means nothing here. Null where none is found.
 */
export async function freezerOf(pid: number, name: string): Promise<FreezerGroup | null> {
  const groups = groupsIn(await textOrEmpty(`/proc/${pid}/cgroup`));
  const mounts = mountsIn(await textOrEmpty('/proc/self/mountinfo'));
  for (const [version, controller] of [
    [1, 'freezer'],
    [2, ''],
  ] as const) {
    const group = groups.get(controller);
    const mount = mounts.find(
      (one) => one.version === version && (version === 2 || one.controllers.includes(controller)),
    );
    if (group?.includes(name) === true && mount !== undefined) {
      return { version, directory: placeOf(mount, group) };
    }
  }
  return null;
}

/** A small file of the kernel, as text. */
export async function textOrEmpty(file: string): Promise<string> {
  return await readFile(file, 'utf8').catch(() => '');
}
