/**
 * Where the parts of one sandbox lie on the host.
 * Owns the names; must not touch the file system.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import type { SandboxId } from '../../core/ids.ts';
import { SOCKET_PATH_BYTES_MAX } from './limits.ts';

/**
 * Digits that name the socket directory: paths there are short. Of the id's hash, not of the id: ids that begin with
 * the time would share a directory, and with it each other's sockets.
 */
const SOCKET_NAME_DIGITS = 12;

export interface SandboxPaths {
  readonly dir: string;
  /** The only place the agent may write its work to. */
  readonly workspace: string;
  /** State of the agent server; conversation logs survive a stop here (D15). */
  readonly agent: string;
  /** The record; see sandbox-record.ts. */
  readonly record: string;
  /** Written by the launched process itself; see launch-script.ts. */
  readonly process: string;
  /** Written by bubblewrap: the process ids of the namespace and, at the end, the exit code. */
  readonly status: string;
  readonly log: string;
  /** The system call filter as the kernel takes it. */
  readonly filter: string;
  /** Why we ended the incarnation although nobody ordered it; see disk-watch.ts. */
  readonly endedFor: string;
  /** Made-up files that a namespace sees in its /etc. */
  readonly etc: string;
  /** Home of a plain process, made anew at each start; namespaces use memory instead. */
  readonly home: string;
  readonly socketDir: string;
  readonly socket: string;
}

export const SANDBOX_ID_PATTERN = /^[0-9a-f]{32}$/;

/** @throws ParleyError runtime_failed: the id is no id, or the socket path is too long for the system */
export function sandboxPaths(
  roots: { readonly dataDir: string; readonly socketDir: string },
  id: SandboxId,
): SandboxPaths {
  if (!SANDBOX_ID_PATTERN.test(id)) {
    throw new ParleyError('runtime_failed', `Cannot locate sandbox "${id}": not 32 hex digits`);
  }
  const dir = join(roots.dataDir, 'sandboxes', id);
  const socketDir = join(
    roots.socketDir,
    createHash('sha256').update(id).digest('hex').slice(0, SOCKET_NAME_DIGITS),
  );
  const socket = join(socketDir, 'agent.sock');
  if (Buffer.byteLength(socket) > SOCKET_PATH_BYTES_MAX) {
    const message = `Cannot locate sandbox "${id}": its socket path is longer than ${SOCKET_PATH_BYTES_MAX} bytes`;
    throw new ParleyError('runtime_failed', message);
  }
  return {
    dir,
    workspace: join(dir, 'workspace'),
    agent: join(dir, 'agent'),
    record: join(dir, 'spec.json'),
    process: join(dir, 'process'),
    status: join(dir, 'status.json'),
    log: join(dir, 'sandbox.log'),
    filter: join(dir, 'filter.bpf'),
    endedFor: join(dir, 'ended-for'),
    etc: join(dir, 'etc'),
    home: join(dir, 'home'),
    socketDir,
    socket,
  };
}
