/**
 * Where the parts of one sandbox of this runtime lie on the host.
 * Owns the names; must not touch the file system.
 */
import { join } from 'node:path';
import type { SandboxId } from '../../core/ids.ts';
import { sandboxPlace, type SandboxPlace } from '../on-host/sandbox-place.ts';

export interface SandboxPaths extends SandboxPlace {
  /** Written by the launched process itself; see launch-script.ts. */
  readonly process: string;
  /** Written by bubblewrap: the process ids of the namespace and, at the end, the exit code. */
  readonly status: string;
  readonly log: string;
  /** The system call filter as the kernel takes it. */
  readonly filter: string;
  /** The filter of tools, where they have a place of their own. */
  readonly toolFilter: string;
  /** What is bound once more for a user of its own; see staging.ts. */
  readonly stage: string;
  /** Home of a plain process, made anew at each start; namespaces use memory instead. */
  readonly home: string;
}

/** @throws ParleyError runtime_failed: the id is no id, or the socket path is too long for the system */
export function sandboxPaths(
  roots: { readonly dataDir: string; readonly socketDir: string },
  id: SandboxId,
): SandboxPaths {
  const place = sandboxPlace(roots, id);
  return {
    ...place,
    process: join(place.dir, 'process'),
    status: join(place.dir, 'status.json'),
    log: join(place.dir, 'sandbox.log'),
    filter: join(place.dir, 'filter.bpf'),
    toolFilter: join(place.dir, 'tools.bpf'),
    stage: join(place.dir, 'stage'),
    home: join(place.dir, 'home'),
  };
}
