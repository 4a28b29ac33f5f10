/**
 * What went wrong between this program and a PostgreSQL server.
 * Owns which failures say that the connection is gone or that a repeat helps, and the sentences about a server that
 * cannot be used; must not repeat a password (D20).
 */
import { ParleyError } from '../../core/parley-error.ts';
import { placeOf, type PostgresAddress } from './postgres-address.ts';

/** Serialization failure and deadlock; a row that two transactions made at once, which the repeat then finds. */
const CONFLICTS = ['40001', '40P01', '23505'];
/** The server ends or begins, or ended this session; classes 08 and 57P0 of SQLSTATE, and no room for one more. */
const LOST = /^(08...|57P0[1-5]|25P03|53300)$/;
/** What Node.js says of a socket. */
const SOCKET =
  /^(ECONNRESET|ECONNREFUSED|ECONNABORTED|EPIPE|ETIMEDOUT|ENOENT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
/** The driver has no codes for these. */
const SAID =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired|Query read timeout|Cannot use a pool)/;

export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

/** What the driver says when every connection stayed in use for as long as it waits for one. */
const BUSY = 'timeout exceeded when trying to connect';

/** Another transaction came first: nothing of this one was applied. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.includes(codeOf(error) ?? '');
}

/**
 * A newer program has given a table another column: what this connection has prepared of it is refused from now on. By the
 * place in the server, because its words are in the language of the server and the code is that of much else.
 */
function isOutdated(error: unknown): boolean {
  return error instanceof Error && 'routine' in error && error.routine === 'RevalidateCachedQuery';
}

/** The connection cannot be used any more, or there was none. */
export function isLost(error: unknown): boolean {
  if (isOutdated(error)) return true;
  const code = codeOf(error);
  if (code !== null && (LOST.test(code) || SOCKET.test(code))) return true;
  if (error instanceof AggregateError) return error.errors.some(isLost);
  return error instanceof Error && SAID.test(error.message);
}

interface Place {
  readonly address: PostgresAddress;
}

/** Why the server cannot be used, with the remedy. */
export function explained(error: unknown, { address }: Place): ParleyError {
  if (error instanceof ParleyError) return error;
  const { state, remedy } = reasonOf(error, address);
  return new ParleyError('store_unavailable', `Cannot open the store: ${state}`, { cause: error, remedy });
}

interface Reason {
  readonly state: string;
  readonly remedy: string;
}

function reasonOf(error: unknown, address: PostgresAddress): Reason {
  const place = placeOf(address);
  const { user, database } = address;
  if (error instanceof Error && error.message === BUSY)
    return { state: 'every connection of the pool stayed in use', remedy: 'raise store.pool' };
  switch (codeOf(error)) {
    case '28P01':
    case '28000':
      return {
        state: `the PostgreSQL server at ${place} refuses the user "${user}"`,
        remedy: 'correct user and password in the URL, or the pg_hba.conf of the server',
      };
    case '3D000':
      return {
        state: `the PostgreSQL server at ${place} has no database "${database}"`,
        remedy: `create it with "createdb ${database}", or correct the URL`,
      };
    case '42501':
      return {
        state: `the user "${user}" may not make tables in the database "${database}"`,
        remedy: `make it the owner: alter database "${database}" owner to "${user}"`,
      };
    case '53300':
      return {
        state: `the PostgreSQL server at ${place} has no connection left`,
        remedy: 'lower store.pool, or raise max_connections of the server',
      };
    case '57P03':
      return {
        state: `the PostgreSQL server at ${place} is starting or ending`,
        remedy: 'try again when it is up',
      };
    default:
      return { state: stateOf(error, place), remedy: remedyOf(error) };
  }
}

function stateOf(error: unknown, place: string): string {
  const said =
    error instanceof Error && error.message !== '' ? error.message : (codeOf(error) ?? String(error));
  return isLost(error)
    ? `no PostgreSQL server answers at ${place}`
    : `the PostgreSQL server at ${place} says: ${said}`;
}

function remedyOf(error: unknown): string {
  if (isLost(error)) return 'start the server, or correct host and port in the URL';
  return isAboutTls(error)
    ? 'set store.tls with the authority of the server, or sslmode in the URL'
    : 'correct the URL of the database or the block "store"';
}

function isAboutTls(error: unknown): boolean {
  return error instanceof Error && /certificate|SSL|TLS|altname/i.test(`${codeOf(error)} ${error.message}`);
}
