/**
 * Where control groups can be made on this host.
 * Owns reading what is mounted and where we are in it; must not make or change a group.
 */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export const CONTROLLERS = ['memory', 'pids', 'cpu', 'freezer'] as const;
export type Controller = (typeof CONTROLLERS)[number];

/** The directory under which the groups of each controller are made; with version 2 it is the same for all. */
export interface CgroupHome {
  readonly version: 1 | 2;
  readonly parents: Readonly<Partial<Record<Controller, string>>>;
}

/** The two files of /proc that tell, as text. */
export interface CgroupSources {
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

interface Mount {
  readonly version: 1 | 2;
  /** What of the hierarchy is mounted: `/` outside of containers. */
  readonly root: string;
  readonly point: string;
  readonly controllers: readonly string[];
}

/** Lines of /proc/self/mountinfo: `id parent dev root point options … - type source superoptions`. */
function mountsIn(mountinfo: string): readonly Mount[] {
  return mountinfo.split('\n').flatMap((line): readonly Mount[] => {
    const [left = '', right = ''] = line.split(' - ');
    const [, , , root = '', point = ''] = left.split(' ');
    const [type, , options = ''] = right.split(' ');
    if (type === 'cgroup2') return [{ version: 2, root, point, controllers: [] }];
    return type === 'cgroup' ? [{ version: 1, root, point, controllers: options.split(',') }] : [];
  });
}

/** Our own group by controller; version 2 under the empty name. */
function groupsIn(text: string): ReadonlyMap<string, string> {
  const entries = text.split('\n').flatMap((line) => {
    const match = /^\d+:([^:]*):(\/.*)$/.exec(line);
    return match === null ? [] : (match[1] ?? '').split(',').map((name) => [name, match[2] ?? '/'] as const);
  });
  return new Map(entries);
}

/**
 * A group with processes cannot hand controllers on, so the sandboxes' groups are made beside ours, in the parent that
 * has handed them to us already. That parent belongs to root, or to the user it was delegated to.
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

/** The directory of a group: its path counts from what is mounted. */
function placeOf({ root, point }: Mount, group: string): string {
  const inside = group === root || group.startsWith(`${root}/`) ? group.slice(root.length) : group;
  return resolve(join(point, root === '/' ? group : inside));
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
