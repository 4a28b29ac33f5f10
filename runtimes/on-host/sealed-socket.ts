/**
 * The socket of an Agent Server, taken out of its sandbox's reach as soon as it answers.
 * The Agent Server makes it where its sandbox can write, and there any program of the sandbox could put its own in place
 * of it: whoever calls next would hand over the session key. Moved, it is the same socket, in a directory that only we
 * see (D31). Owns the moving; must run before anything of a conversation does.
 */
import { lstat, rename } from 'node:fs/promises';
import { healthAt, type Health } from './health-probe.ts';
import { removeTree } from './remove-tree.ts';
import type { SandboxPlace } from './sandbox-place.ts';

/** Asks the Agent Server whether it is up; when it is, its socket is sealed. Never throws. */
export async function sealedHealth({
  socket,
  offeredSocket,
}: Pick<SandboxPlace, 'socket' | 'offeredSocket'>): Promise<Health> {
  if (await isSocket(socket)) return await healthAt(socket);
  const health = await healthAt(offeredSocket);
  if (health !== 'up') return health;
  return (await moved(offeredSocket, socket)) ? 'up' : 'silent';
}

/** What was put in its place meanwhile may be no socket at all, and is never kept. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    if (await isSocket(to)) return true;
    await removeTree(to);
  } catch {
    // The next look tells what is there.
  }
  return false;
}

async function isSocket(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isSocket() ?? false;
}
