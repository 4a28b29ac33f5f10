/**
 * Asking the Docker daemon.
 * Owns the connection, the deadline of every call, and what each refusal means: nothing known, definite, or no such
 * thing. Must not decide what to do about it.
 */
import type Docker from 'dockerode';
import { missingPartOf, ParleyError } from '../../core/parley-error.ts';
import { CALL_TIMEOUT_MS } from './limits.ts';

const SOCKET_REMEDY =
  'add it to the group that owns the socket, often "docker", and log in again; whoever is in it is root on this host';

export interface DockerDaemon {
  readonly socketPath: string;
  /**
   * Does something with the daemon. `what` completes "Cannot ...".
   * @throws ParleyError runtime_unreachable: nothing is known; runtime_failed: the daemon refused for good
   */
  ask<T>(what: string, work: (docker: Docker) => Promise<T>): Promise<T>;
}

/** The package of the client. A deployment that needs it asks before anything begins. @throws Error it is not installed */
export const loadDockerClient = () => import('dockerode');

/** Connects with the first call, so that who never needs Docker never loads its client. */
export function dockerDaemon(socketPath: string): DockerDaemon {
  let opened: Promise<Docker> | null = null;
  const open = async (): Promise<Docker> => {
    const { default: Client } = await loadDockerClient();
    // An empty host wins over what DOCKER_HOST says: a daemon elsewhere cannot bind our directories.
    return new Client({ socketPath, host: '', timeout: CALL_TIMEOUT_MS });
  };
  return {
    socketPath,
    async ask(what, work) {
      opened ??= open();
      try {
        return await work(await opened);
      } catch (error) {
        throw asRuntimeError(error, { what, socketPath });
      }
    },
  };
}

/** HTTP status of the daemon's answer; null when there was none. */
export function statusOf(error: unknown): number | null {
  const from = error instanceof ParleyError ? error.cause : error;
  const status = from instanceof Error && 'statusCode' in from ? from.statusCode : null;
  return typeof status === 'number' ? status : null;
}

/** The value, or null when the daemon answered with one of these. */
export async function unless<T>(statuses: readonly number[], work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    const status = statusOf(error);
    if (status !== null && statuses.includes(status)) return null;
    throw error;
  }
}

interface Asked {
  readonly what: string;
  readonly socketPath: string;
}

function asRuntimeError(error: unknown, { what, socketPath }: Asked): ParleyError {
  if (error instanceof ParleyError) return error;
  const missing = missingPartOf(error);
  if (missing !== null) return missing;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const status = statusOf(error);
  const unreachable = (reason: string, remedy: string | null = null): ParleyError => {
    const options = { cause: error, ...(remedy === null ? {} : { remedy }) };
    return new ParleyError('runtime_unreachable', `Cannot ${what}: ${reason}`, options);
  };
  switch (code) {
    case 'ENOENT':
    case 'ECONNREFUSED':
      return unreachable(
        `no Docker daemon answers at "${socketPath}"; start it, or name its socket in runtime.docker.socket`,
      );
    case 'EACCES':
    case 'EPERM':
      return unreachable(`this user may not use "${socketPath}"`, SOCKET_REMEDY);
  }
  const said = reasonOf(error);
  if (status === null || status >= 500) return unreachable(`Docker says "${said}"`);
  return new ParleyError('runtime_failed', `Cannot ${what}: Docker says "${said}"`, { cause: error });
}

/** The daemon's own sentence, without the client's numbers around it. */
function reasonOf(error: unknown): string {
  const json = error instanceof Error && 'json' in error ? error.json : null;
  const told = json !== null && typeof json === 'object' && 'message' in json ? json.message : null;
  if (typeof told === 'string') return told.trim();
  return (error instanceof Error ? error.message : String(error)).trim();
}
