/**
 * The unix sockets of the host that every sandbox reaches.
 * Owns the shape, and the check that binding their directories opens nothing else.
 */
import { mkdir } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';

/** Unix sockets of the host that are bound into every sandbox, by what answers there. */
export interface HostSockets {
  readonly proxy: string;
  readonly webhook: string;
  readonly git: string;
}

/** What a runtime binds, and what must not be reached through it. */
interface BoundSockets {
  readonly hostSockets: HostSockets;
  readonly egressSocket?: string | null;
  readonly socketDir: string;
  readonly dataDir: string;
}

/**
 * The whole directory of a host socket is bound, so it must not lead to other sandboxes or to our data.
 * @throws ParleyError runtime_failed
 */
export function checkHostSockets(bound: BoundSockets): void {
  for (const socket of socketsOf(bound)) {
    const dir = resolve(dirname(socket));
    for (const kept of [resolve(bound.socketDir), resolve(bound.dataDir)]) {
      if (!relative(dir, kept).startsWith('..')) {
        const message = `Cannot bind host socket "${socket}": its directory holds "${kept}"`;
        throw new ParleyError('runtime_failed', message);
      }
    }
  }
}

/** A bind of a missing directory would fail the start; the sockets in it may come later. */
export async function prepareHostSocketDirs(bound: BoundSockets): Promise<void> {
  for (const path of socketsOf(bound)) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
}

function socketsOf({ hostSockets, egressSocket }: BoundSockets): readonly string[] {
  return [...Object.values<string>({ ...hostSockets }), ...(egressSocket == null ? [] : [egressSocket])];
}
