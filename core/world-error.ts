/**
 * Errors of the operating system as errors of the catalogue: a full disk or a port in use is no bug of ours.
 * Owns the one table from an errno to a code with its remedy; must not decide what a caller does about it.
 */
import type { ErrorCode } from './error-catalogue.ts';

export interface WorldError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly remedy: string;
  readonly details?: Readonly<Record<string, string>>;
}

interface Kind {
  readonly code: ErrorCode;
  /** The problem, in words. */
  readonly state: string;
  readonly remedy: string;
}

const FULL = 'make room, or name another folder; what was stored stays as it is';
const RIGHTS = 'check owner and permissions of the path, or name another one';
const PATH = 'check the path that is named, and what of it exists';
const PORT = 'choose another port or host, or end the program that listens there';
const TEMPORARY = 'set TMPDIR to a folder that exists and can be written, or unset it';
const RESOURCES = 'raise the limits of this process ("ulimit -n", "ulimit -u"), or run less at once';

const path = (state: string, remedy: string): Kind => ({ code: 'path_unusable', state, remedy });
const disk = (state: string): Kind => ({ code: 'disk_full', state, remedy: FULL });
const resources = (state: string): Kind => ({ code: 'out_of_resources', state, remedy: RESOURCES });
const port = (state: string): Kind => ({ code: 'port_unavailable', state, remedy: PORT });

const KINDS: Readonly<Record<string, Kind>> = {
  ENOENT: path('it does not exist', PATH),
  ENOTDIR: path('a part of the path is no folder', PATH),
  EISDIR: path('it is a folder', PATH),
  EEXIST: path('something else is there already', PATH),
  ENOTEMPTY: path('the folder is not empty', PATH),
  ENAMETOOLONG: path('the name is too long', PATH),
  ELOOP: path('its links lead in a circle', PATH),
  EACCES: path('access is denied', RIGHTS),
  EPERM: path('the operation is not permitted', RIGHTS),
  EROFS: path('the file system is read-only', RIGHTS),
  ENOSPC: disk('the disk is full'),
  EDQUOT: disk('the quota of the disk is used up'),
  EFBIG: disk('the file would be larger than is allowed'),
  EIO: { code: 'disk_failed', state: 'the device failed', remedy: 'look at the system log of the machine' },
  EMFILE: resources('too many files are open in this process'),
  ENFILE: resources('too many files are open on this machine'),
  ENOMEM: resources('there is no memory left'),
  EAGAIN: resources('the system gives no more processes at this moment'),
  EADDRINUSE: port('it is in use'),
  EADDRNOTAVAIL: port('the address is not one of this machine'),
};

/** With these a process lacks the rights for a port, not for a file. */
const LISTEN_REFUSED = new Set(['EACCES', 'EPERM']);
/** A chain of causes longer than this is a loop. */
const CAUSES_MAX = 10;

/** The system error in a chain of causes, as one of ours; null when there is none that we know. */
export function worldErrorOf(error: unknown): WorldError | null {
  let current = error;
  for (let count = 0; count < CAUSES_MAX && current instanceof Error; count++) {
    const told = ofSystem(current as SystemError) ?? ofMissingPart(current as SystemError);
    if (told !== null) return told;
    current = current.cause;
  }
  return null;
}

/** As Node makes them; fields are absent where a call has no path, or no address. */
interface SystemError extends Error {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly path?: unknown;
  readonly dest?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
}

/** Packages of engines and runtimes are loaded on demand; the operator installs those that are needed beside Parley. */
function ofMissingPart({ code, message }: SystemError): WorldError | null {
  if (code !== 'ERR_MODULE_NOT_FOUND') return null;
  const name = /^Cannot find package '((?:@[^/']+\/)?[^/']+)/.exec(message)?.[1];
  if (name === undefined) return null;
  return {
    code: 'part_missing',
    message: `Cannot load a part of Parley: the package "${name}" is not installed`,
    remedy: 'install it beside Parley',
    details: { package: name },
  };
}

function ofSystem(error: SystemError): WorldError | null {
  const { code: errno, syscall } = error;
  // An error without a system call is a library's own, whatever it calls itself.
  if (typeof errno !== 'string' || typeof syscall !== 'string') return null;
  const isListening = syscall === 'listen' || syscall === 'bind';
  const kind = isListening && LISTEN_REFUSED.has(errno) ? port('it needs more rights') : KINDS[errno];
  if (kind === undefined) return null;
  const { code, state } = kind;
  const remedy = syscall === 'mkdtemp' ? TEMPORARY : kind.remedy;
  // Node names the program there, too: "spawn docker".
  const [call = syscall] = syscall.split(' ');
  return { code, message: `Cannot ${call}${objectOf(error)}: ${state} (${errno})`, remedy };
}

function objectOf({ path: from, dest, address, port: number }: SystemError): string {
  if (typeof from === 'string') return ` "${from}"${typeof dest === 'string' ? ` to "${dest}"` : ''}`;
  if (typeof address !== 'string') return '';
  return typeof number === 'number' ? ` on port ${number} of "${address}"` : ` on "${address}"`;
}
