/**
 * What the kernel lists of control groups: the hierarchies that are mounted here, and the groups of one process.
 * Owns reading the two texts of /proc; must not open, make or change a group.
 */
import { join, resolve } from 'node:path';

export interface Mount {
  readonly version: 1 | 2;
  /** What of the hierarchy is mounted: `/` outside of containers. */
  readonly root: string;
  readonly point: string;
  readonly controllers: readonly string[];
}

/** Lines of /proc/self/mountinfo: `id parent dev root point options … - type source superoptions`. */
export function mountsIn(mountinfo: string): readonly Mount[] {
  return mountinfo.split('\n').flatMap((line): readonly Mount[] => {
    const [left = '', right = ''] = line.split(' - ');
    const [, , , root = '', point = ''] = left.split(' ');
    const [type, , options = ''] = right.split(' ');
    if (type === 'cgroup2') return [{ version: 2, root, point, controllers: [] }];
    return type === 'cgroup' ? [{ version: 1, root, point, controllers: options.split(',') }] : [];
  });
}

/** Text of /proc/PID/cgroup: the group by controller; version 2 under the empty name. */
export function groupsIn(text: string): ReadonlyMap<string, string> {
  const entries = text.split('\n').flatMap((line) => {
    const match = /^\d+:([^:]*):(\/.*)$/.exec(line);
    return match === null ? [] : (match[1] ?? '').split(',').map((name) => [name, match[2] ?? '/'] as const);
  });
  return new Map(entries);
}

/** The directory of a group: its path counts from what is mounted. */
export function placeOf({ root, point }: Mount, group: string): string {
  const inside = group === root || group.startsWith(`${root}/`) ? group.slice(root.length) : group;
  return resolve(join(point, root === '/' ? group : inside));
}
