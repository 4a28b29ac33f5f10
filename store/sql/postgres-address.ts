/**
 * Where a PostgreSQL server is: from the text of a URL to plain fields.
 * Owns the form of the URL and the sentences about a wrong one; the URL holds a password, so no sentence repeats any of it (D20).
 */
import { ParleyError } from '../../core/parley-error.ts';

export interface PostgresAddress {
  /** A name or an address, or the absolute folder of a unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Null when the server asks for none. Never printed. */
  readonly password: string | null;
  readonly database: string;
  /** The URL asks for TLS by its `sslmode`. */
  readonly wantsTls: boolean;
}

const PORT_DEFAULT = 5_432;
const EXAMPLE = 'write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE';
/** What the other words of libpq mean is weaker than it sounds: the certificate is not looked at. */
const TLS_MODES = ['require', 'verify-ca', 'verify-full'];
const PARAMETERS = ['host', 'port', 'user', 'password', 'sslmode'];

/**
 * `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`, with `?host=/FOLDER` for a unix socket and `?sslmode=`.
 * @throws ParleyError config_invalid
 */
export function parsePostgresUrl(text: string): PostgresAddress {
  const url = readUrl(text);
  for (const name of url.searchParams.keys())
    if (!PARAMETERS.includes(name)) throw wrong(`its parameter "${name}" is not known`, known());
  const given = (name: string, part: string): string => url.searchParams.get(name) ?? decoded(part);
  const user = given('user', url.username);
  const database = decoded(url.pathname.slice(1));
  if (user === '') throw wrong('it names no user', EXAMPLE);
  if (database === '') throw wrong('it names no database', EXAMPLE);
  return {
    host: given('host', url.hostname.replace(/^\[(.*)\]$/, '$1')) || 'localhost',
    port: portOf(given('port', url.port)),
    user,
    password: given('password', url.password) || null,
    database,
    wantsTls: wantsTls(url.searchParams.get('sslmode')),
  };
}

/** For people: without user and password. */
export function placeOf({ host, port }: Pick<PostgresAddress, 'host' | 'port'>): string {
  if (host.startsWith('/')) return `${host}/.s.PGSQL.${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function readUrl(text: string): URL {
  // Without a host there is no server name that the standard could read; libpq takes such a URL for a socket.
  const whole = text.trim().replace(/^(postgres(?:ql)?:\/\/)((?:[^/@]*@)?)(?=\/)/, '$1$2localhost');
  if (!URL.canParse(whole)) throw wrong('it cannot be read', EXAMPLE);
  const url = new URL(whole);
  if (url.protocol === 'postgres:' || url.protocol === 'postgresql:') return url;
  throw wrong('it begins with neither postgresql: nor postgres:', EXAMPLE);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw wrong('a "%" in it begins no character', 'write a percent sign as %25');
  }
}

function portOf(text: string): number {
  if (text === '') return PORT_DEFAULT;
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw wrong('its port is not 1 to 65535', EXAMPLE);
}

function wantsTls(mode: string | null): boolean {
  if (mode === null || mode === 'disable') return false;
  if (TLS_MODES.includes(mode)) return true;
  throw wrong(
    `its sslmode is not "disable" or one of ${TLS_MODES.join(', ')}`,
    'TLS always checks the certificate',
  );
}

function known(): string {
  return `known are ${PARAMETERS.join(', ')}; the rest is configured under "store"`;
}

function wrong(state: string, remedy: string): ParleyError {
  return new ParleyError('config_invalid', `Cannot use the URL of the database: ${state}`, { remedy });
}
