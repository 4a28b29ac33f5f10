/**
 * Where a sandbox lies on the host, whatever runtime it is of.
 * Owns the names that runtimes have in common; must not make or change anything.
 */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sandboxId, type SandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { isMissing } from './record-file.ts';
import { SOCKET_PATH_BYTES_MAX } from './limits.ts';

/**
 * Digits that name the socket directory: paths there are short. Of the id's hash, not of the id: ids that begin with
 * the time would share a directory, and with it each other's sockets.
 */
const SOCKET_NAME_DIGITS = 12;
const SANDBOX_ID_PATTERN = /^[0-9a-f]{32}$/;
export const SOCKET_DIRECTORY = /^[0-9a-f]{12}$/;

export interface SandboxPlace {
  readonly dir: string;
  /** The only place the agent may write its work to. */
  readonly workspace: string;
  /** State of the agent server; conversation logs survive a stop here (D15). */
  readonly agent: string;
  /** Clones of plugins, where they are not in the agent server's state: tools change and run them. */
  readonly plugins: string;
  readonly record: string;
  /** Why we ended the incarnation without an order. */
  readonly endedFor: string;
  /** Made-up files that the sandbox sees. */
  readonly etc: string;
  /** Of this sandbox, and ours alone. */
  readonly socketDir: string;
  /** In it: what the sandbox sees, and where the Agent Server makes its socket. */
  readonly offeredDir: string;
  readonly offeredSocket: string;
  /** The same socket once it is sealed: the only one that is called. */
  readonly socket: string;
}

/** @throws ParleyError runtime_failed: the id is no id, or the socket path is too long for the system */
export function sandboxPlace(
  roots: { readonly dataDir: string; readonly socketDir: string },
  id: SandboxId,
): SandboxPlace {
  if (!SANDBOX_ID_PATTERN.test(id)) {
    throw new ParleyError('runtime_failed', `Cannot locate sandbox "${id}": not 32 hex digits`);
  }
  const dir = join(roots.dataDir, 'sandboxes', id);
  const socketDir = join(roots.socketDir, digest(id, SOCKET_NAME_DIGITS));
  const offeredDir = join(socketDir, 'i');
  const offeredSocket = join(offeredDir, 'agent.sock');
  if (Buffer.byteLength(offeredSocket) > SOCKET_PATH_BYTES_MAX) {
    const message = `Cannot locate sandbox "${id}": its socket path is longer than ${SOCKET_PATH_BYTES_MAX} bytes`;
    throw new ParleyError('runtime_failed', message);
  }
  return {
    dir,
    workspace: join(dir, 'workspace'),
    agent: join(dir, 'agent'),
    plugins: join(dir, 'plugins'),
    record: join(dir, 'spec.json'),
    endedFor: join(dir, 'ended-for'),
    etc: join(dir, 'etc'),
    socketDir,
    offeredDir,
    offeredSocket,
    socket: join(socketDir, 'agent.sock'),
  };
}

/** Every sandbox that has a directory, whole or not. */
export async function sandboxIds(dataDir: string): Promise<readonly SandboxId[]> {
  const names = await namesIn(join(dataDir, 'sandboxes'));
  return names.filter((entry) => SANDBOX_ID_PATTERN.test(entry)).map((name) => sandboxId(name));
}

/** Names in a directory; none when there is no such directory. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  return await readdir(directory).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

/** A short name that differs for different texts. */
export function digest(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}
