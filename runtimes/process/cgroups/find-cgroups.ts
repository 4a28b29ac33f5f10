/**
 * Where control groups can be made on this host.
 * Owns reading what is mounted and where we are in it; must not make or change a group.
 */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { groupsIn, mountsIn, placeOf, type Mount } from '../../on-host/mounted-groups.ts';

const CONTROLLERS = ['memory', 'pids', 'cpu', 'freezer'] as const;
export type Controller = (typeof CONTROLLERS)[number];

/** The directory under which the groups of each controller are made; with version 2 it is the same for all. */
export interface CgroupHome {
  readonly version: 1 | 2;
  readonly parents: Readonly<Partial<Record<Controller, string>>>;
}

/** The two files of /proc that say so, as text. */
interface CgroupSources {
  readonly mountinfo: string;
  readonly ownGroups: string;
}

/** Null where no group can be made: not Linux, not allowed, or nothing mounted. */
export function findCgroups(sources: CgroupSources | null = readSources()): CgroupHome | null {
  if (sources === null) return null;
  const mounts = mountsIn(sources.mountinfo);
  const groups = groupsIn(sources.ownGroups);
  return findVersion2(mounts, groups) ?? findVersion1(mounts, groups);
}

function readSources(): CgroupSources | null {
  try {
    return {
      mountinfo: readFileSync('/proc/self/mountinfo', 'utf8'),
      ownGroups: readFileSync('/proc/self/cgroup', 'utf8'),
    };
  } catch {
    return null;
  }
}

/**
 * A group with processes cannot pass controllers on, so the sandboxes' groups are made beside ours, in the parent that
 * has passed them to us already. That parent belongs to root, or to the user it was delegated to.
 */
function findVersion2(mounts: readonly Mount[], groups: ReadonlyMap<string, string>): CgroupHome | null {
  const mount = mounts.find((one) => one.version === 2);
  const own = groups.get('');
  if (mount === undefined || own === undefined) return null;
  const parent = dirname(placeOf(mount, own));
  const handedOn = wordsIn(join(parent, 'cgroup.subtree_control'));
  const missing = ['memory', 'pids', 'cpu'].filter((name) => !handedOn.includes(name));
  if (own === '/' || missing.length > 0 || !isWritable(parent)) return null;
  return { version: 2, parents: { memory: parent, pids: parent, cpu: parent, freezer: parent } };
}

/** Below our own group, so that what bounds us bounds the sandboxes together. */
function findVersion1(mounts: readonly Mount[], groups: ReadonlyMap<string, string>): CgroupHome | null {
  const found = CONTROLLERS.flatMap((controller) => {
    const mount = mounts.find((one) => one.version === 1 && one.controllers.includes(controller));
    const own = groups.get(controller);
    if (mount === undefined || own === undefined) return [];
    const parent = placeOf(mount, own);
    return isWritable(parent) ? [[controller, parent] as const] : [];
  });
  return found.length === 0 ? null : { version: 1, parents: Object.fromEntries(found) };
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return existsSync(join(directory, 'cgroup.procs'));
  } catch {
    return false;
  }
}

function wordsIn(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').trim().split(/\s+/);
  } catch {
    return [];
  }
}
