/**
 * Control groups of ours that no sandbox owns any more.
 * Owns finding and removing them; what cannot be distinguished from another owner's is left alone.
 */
import { basename } from 'node:path';
import { groupOf, killGroup, processesIn, removeGroup, type SandboxGroup } from './cgroups/sandbox-group.ts';
import type { CgroupHome } from './cgroups/find-cgroups.ts';
import { KILL_ROUNDS_MAX } from '../on-host/limits.ts';
import { digest, namesIn } from '../on-host/sandbox-place.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/** Enough for installations of a host, and for the sandboxes of one, to differ. */
const MARK_DIGITS = 8;
const NAME_DIGITS = 12;

/** The name of an incarnation's control groups: which installation, which sandbox, which generation. */
export function groupName(dataDir: string, sandboxDir: string, generation: number): string {
  return `${groupPrefix(dataDir)}${digest(sandboxDir, NAME_DIGITS)}-${generation}`;
}

/** Lists the groups of this installation; then removes those that none of the records names, with a line for each. */
export async function leftGroups(
  home: CgroupHome | null,
  dataDir: string,
): Promise<(records: readonly SandboxRecord[]) => Promise<readonly string[]>> {
  const groups = await groupsHere(home, dataDir);
  return async (records) => {
    const owned = new Set(records.flatMap(({ group }) => namesOf(group)));
    const removed: string[] = [];
    for (const [name, group] of groups) {
      if (owned.has(name)) continue;
      await empty(group);
      await removeGroup(group);
      removed.push(`control group ${name}`);
    }
    return removed;
  };
}

async function groupsHere(
  home: CgroupHome | null,
  dataDir: string,
): Promise<ReadonlyMap<string, SandboxGroup>> {
  const found = new Map<string, SandboxGroup>();
  if (home === null) return found;
  for (const parent of new Set(Object.values(home.parents))) {
    for (const name of await namesIn(parent)) {
      if (name.startsWith(groupPrefix(dataDir))) found.set(name, groupOf(home, name));
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
