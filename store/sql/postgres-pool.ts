/**
 * The pool of connections to a PostgreSQL server, configured as the store needs it.
 * Owns the driver's settings: time limits, TLS, how integers are read. Nothing else of the store imports the driver,
 * except the guard of the database and the channel of notifications. Neither the URL nor the password is in an error or a log (D20).
 */
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import type { PostgresAddress } from './postgres-address.ts';
import { StoreClient, type AskOutcome } from './postgres-client.ts';
import { explained } from './postgres-failure.ts';
import type { StorePool } from './postgres.ts';

export interface PostgresTls {
  /** PEM; null trusts the authorities of the system. */
  readonly ca: string | null;
  /** Certificate of this client and its key, PEM. */
  readonly client: { readonly certificate: string; readonly key: string } | null;
  /** Name in the server's certificate, where it is not the host. */
  readonly serverName: string | null;
}

/** Where the database is, and how many connections it may see. */
export interface PostgresServer {
  readonly address: PostgresAddress;
  /** Connections at most. */
  readonly poolMax: number;
  /** Bounds one statement and one wait for a lock; 0 sets no bound. */
  readonly statementTimeoutMs: number;
  /** Null speaks TLS only when the URL asks for it. */
  readonly tls: PostgresTls | null;
  /** Schema of the tables; null takes the first of the server's search path. */
  readonly schema: string | null;
}

/** What connections of a pool are for. */
export interface PoolUse {
  /** Every transaction is one that only reads. */
  readonly readOnly: boolean;
  /** How the server lists the connections. */
  readonly name: string;
  /** Called for every new connection before it is used. @throws why it may not be */
  admit?(client: pg.ClientBase): Promise<void>;
}

/** A server that is there answers in milliseconds; one behind a dead route never does. */
const CONNECT_MS_MAX = 10_000;
/** The server cancels by itself; this is for an answer that never arrives. */
const ANSWER_GRACE_MS = 10_000;
/** A transaction of ours never waits for anything but the server, so one that rests belongs to a dead process. */
const IDLE_IN_TRANSACTION_MS = 60_000;
const KEEP_ALIVE_AFTER_MS = 30_000;
/** OID of 64-bit integers. */
const INT8 = 20;

/** How the driver connects; shared with the guard of the database. */
export function clientConfig(server: PostgresServer, name: string): pg.ClientConfig {
  const { address, statementTimeoutMs, schema } = server;
  return {
    host: address.host,
    port: address.port,
    user: address.user,
    database: address.database,
    // Without one the driver looks where psql does: PGPASSWORD and ~/.pgpass.
    ...(address.password === null ? {} : { password: address.password }),
    ssl: tlsOf(server),
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    client_encoding: 'UTF8',
    ...(statementTimeoutMs === 0
      ? {}
      : { statement_timeout: statementTimeoutMs, query_timeout: statementTimeoutMs + ANSWER_GRACE_MS }),
    ...(schema === null ? {} : { options: `-c search_path=${schema}` }),
    types: { getTypeParser },
  };
}

/** Connects when a connection is first asked for. */
export function createPostgresPool(server: PostgresServer, use: PoolUse): StorePool {
  const config = clientConfig(server, use.name);
  const options = [config.options, use.readOnly ? '-c default_transaction_read_only=on' : undefined];
  const { admit } = use;
  const pool = new pg.Pool({
    ...config,
    max: server.poolMax,
    options: options.filter((one) => one !== undefined).join(' '),
    // The pool waits for it, which its types do not say.
    ...(admit === undefined ? {} : { onConnect: admit as (client: pg.ClientBase) => void }),
  });
  // An idle connection that the server ends is taken out of the pool; the next one to ask gets a new one.
  pool.on('error', () => undefined);
  // Between the pool and the caller that gets a connection nothing listens, and an end without a listener ends the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const ask = (transaction: string): ReturnType<AskOutcome> => askOutcome(config, transaction);
  const clients = new WeakMap<pg.PoolClient, StoreClient>();
  const clientOf = (connection: pg.PoolClient): StoreClient => {
    const client = clients.get(connection) ?? new StoreClient(connection, ask);
    clients.set(connection, client);
    return client;
  };
  return {
    connect: async () => clientOf(await pool.connect().catch(refused(server))),
    end: () => pool.end(),
  };
}

/** Over a connection of its own: those of the pool may all be in use by a caller of this. */
async function askOutcome(config: pg.ClientConfig, transaction: string): ReturnType<AskOutcome> {
  const client = new pg.Client(config);
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ status: Awaited<ReturnType<AskOutcome>> }>(
      'select pg_xact_status($1::xid8) as status',
      [transaction],
    );
    return rows[0]?.status ?? null;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Keeps what a repeat may help with as it is; the rest is a sentence with a remedy. */
function refused(server: PostgresServer): (error: unknown) => never {
  return (error) => {
    throw explained(error, server);
  };
}

function tlsOf({ address, tls }: PostgresServer): ConnectionOptions | false {
  if (tls === null) return address.wantsTls ? {} : false;
  return {
    ...(tls.ca === null ? {} : { ca: tls.ca }),
    ...(tls.client === null ? {} : { cert: tls.client.certificate, key: tls.client.key }),
    ...(tls.serverName === null ? {} : { servername: tls.serverName }),
  };
}

/** A number where that is exact; else the text, which the reader of the column refuses (D26). */
function exactInteger(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

const getTypeParser = ((oid: number, format?: 'text' | 'binary') =>
  oid === INT8
    ? exactInteger
    : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser;
