/**
 * Things of ours that no sandbox owns any more: containers and socket directories.
 * Owns finding and removing them; what bears the marks of another installation is left alone.
 */
import { basename, join } from 'node:path';
import { removeTree } from '../on-host/remove-tree.ts';
import { SOCKET_DIRECTORY, namesIn } from '../on-host/sandbox-place.ts';
import type { SandboxPlace } from '../on-host/sandbox-place.ts';
import { listContainers, removeContainer } from './containers.ts';
import type { Containers } from './containers.ts';
import type { SandboxRecord } from './sandbox-record.ts';

export interface Holdings {
  readonly socketDir: string;
  readonly containers: Containers;
  /** Read after what lies around was listed: whatever is being made now has its record already. */
  readonly held: () => Promise<
    readonly { readonly place: SandboxPlace; readonly record: SandboxRecord | null }[]
  >;
}

/** One line for each thing that was removed. */
export async function removeLeftovers({ socketDir, containers, held }: Holdings): Promise<readonly string[]> {
  const sockets = (await namesIn(socketDir)).filter((name) => SOCKET_DIRECTORY.test(name));
  const listed = await listContainers(containers);
  const all = await held();
  const removed: string[] = [];
  const ownSockets = new Set(all.map(({ place }) => basename(place.socketDir)));
  for (const name of sockets.filter((one) => !ownSockets.has(one))) {
    await removeTree(join(socketDir, name));
    removed.push(`socket directory ${name}`);
  }
  const generations = new Map(
    all.flatMap(({ record }) => (record === null ? [] : [[record.sandboxId, record.generation] as const])),
  );
  for (const { id, marks } of listed) {
    const generation = generations.get(marks.sandboxId);
    // An older one is the rest of a start that was cut off; a newer one cannot be: its record comes first.
    if (generation !== undefined && marks.generation >= generation) continue;
    await removeContainer(containers, id);
    removed.push(`container of sandbox ${marks.sandboxId}, generation ${marks.generation}`);
  }
  return removed;
}
