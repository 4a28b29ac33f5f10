/**
 * Letting the user of containers connect to the sockets that are bound into them.
 * Owns the modes. On the host nobody else gets near: the directory above all of them belongs to us alone.
 */
import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ensurePrivateDir } from '../../runtimes/on-host/private-dir.ts';

/** Passed through by anybody, listed by nobody. */
const PASSABLE = 0o711;
const CONNECTABLE = 0o666;

/** @throws ParleyError runtime_failed: the directory above is somebody else's */
export async function openToContainers(sockets: readonly string[]): Promise<void> {
  for (const socket of sockets) {
    await ensurePrivateDir(dirname(dirname(socket)));
    await chmod(dirname(socket), PASSABLE);
    await chmod(socket, CONNECTABLE);
  }
}
