/**
 * Things of ours that no sandbox owns any more: socket directories and control groups.
 * Owns finding and removing them; what cannot be told apart from somebody else's is left alone.
 */
import { basename, join } from 'node:path';
import { groupOf, killGroup, processesIn, removeGroup, type SandboxGroup } from './cgroups/sandbox-group.ts';
import type { CgroupHome } from './cgroups/find-cgroups.ts';
import { KILL_ROUNDS_MAX } from '../on-host/limits.ts';
import { removeTree } from '../on-host/remove-tree.ts';
import type { SandboxPaths } from './sandbox-paths.ts';
import { SOCKET_DIRECTORY, digest, namesIn } from '../on-host/sandbox-place.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/** Enough for installations of a host, and for the sandboxes of one, to differ. */
const MARK_DIGITS = 8;
const NAME_DIGITS = 12;

export interface Holdings {
  readonly socketDir: string;
  readonly dataDir: string;
  readonly groups: CgroupHome | null;
  /** Read after what lies around was listed: whatever is being made now has its record already. */
  readonly held: () => Promise<
    readonly { readonly paths: SandboxPaths; readonly record: SandboxRecord | null }[]
  >;
}

/** The name of an incarnation's control groups: which installation, which sandbox, which generation. */
export function groupName(dataDir: string, sandboxDir: string, generation: number): string {
  return `${groupPrefix(dataDir)}${digest(sandboxDir, NAME_DIGITS)}-${generation}`;
}

/** One line for each thing that was removed. */
export async function removeLeftovers(holdings: Holdings): Promise<readonly string[]> {
  const sockets = (await namesIn(holdings.socketDir)).filter((name) => SOCKET_DIRECTORY.test(name));
  const groups = await groupsHere(holdings);
  const held = await holdings.held();
  const removed: string[] = [];
  const ownSockets = new Set(held.map(({ paths }) => basename(paths.socketDir)));
  for (const name of sockets.filter((one) => !ownSockets.has(one))) {
    await removeTree(join(holdings.socketDir, name));
    removed.push(`socket directory ${name}`);
  }
  const ownGroups = new Set(held.flatMap(({ record }) => namesOf(record?.group ?? null)));
  for (const [name, group] of groups) {
    if (ownGroups.has(name)) continue;
    await empty(group);
    await removeGroup(group);
    removed.push(`control group ${name}`);
  }
  return removed;
}

async function groupsHere({ groups, dataDir }: Holdings): Promise<ReadonlyMap<string, SandboxGroup>> {
  const found = new Map<string, SandboxGroup>();
  if (groups === null) return found;
  for (const parent of new Set(Object.values(groups.parents))) {
    for (const name of await namesIn(parent)) {
      if (name.startsWith(groupPrefix(dataDir))) found.set(name, groupOf(groups, name));
    }
  }
  return found;
}

async function empty(group: SandboxGroup): Promise<void> {
  for (let round = 0; round < KILL_ROUNDS_MAX; round += 1) {
    if ((await processesIn(group)).length === 0) return;
    await killGroup(group);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function namesOf(group: SandboxGroup | null): readonly string[] {
  return group === null ? [] : Object.values(group.directories).map((directory) => basename(directory));
}

function groupPrefix(dataDir: string): string {
  return `parley-${digest(dataDir, MARK_DIGITS)}-`;
}
