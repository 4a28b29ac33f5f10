/**
 * A PostgreSQL server for tests and benches, on loopback: of the programs of this machine below a temporary folder, or
 * in a container where a Docker daemon can be had and they are missing.
 * Owns its databases, and the wait until it answers. The reason why there is none is a sentence.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { dockerdMissing } from './docker-daemon.ts';
import { makePostgresImage } from './machine-images.ts';
import { startPeer } from './peer-container.ts';
import { succeeds, type PeerServer } from './own-process.ts';
import { POSTGRES_USER, programsMissing, startPostgresProcess } from './postgres-process.ts';

/** A running server, whichever process runs it. */
export interface PostgresServerProcess {
  readonly host: '127.0.0.1';
  readonly port: number;
  readonly user: typeof POSTGRES_USER;
  readonly password: string;
  /** Of a database of the server. */
  url(database: string): string;
  /** A new, empty database; its URL. */
  createDatabase(name: string): Promise<string>;
  /** Carries out SQL as the owner of everything. */
  run(sql: string, database?: string): Promise<readonly Record<string, unknown>[]>;
  /** SIGINT ends sessions at once, SIGQUIT is a crash. */
  stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  start(): Promise<void>;
  /** Ends it and removes its files. */
  close(): Promise<void>;
}

const START_MS = 60_000;
const POLL_MS = 50;
/** A test needs no bytes after a power cut, but those after a crash of the server it does. */
const QUICK = { fsync: 'off', full_page_writes: 'off' };

/** Why no server can be started here; null when one can. */
export function postgresMissing(): string | null {
  const reason = programsMissing();
  return reason === null || dockerdMissing() === null
    ? null
    : `${reason}, nor is there a Docker daemon for its image`;
}

interface ServerSettings {
  /** Of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Absent: a process where its programs are, else a container. */
  readonly place?: 'process' | 'container';
  /** Keeps what is durable as slow as it is. */
  readonly isDurable?: boolean;
}

/** @throws Error the server does not start */
export async function startPostgres(options: ServerSettings = {}): Promise<PostgresServerProcess> {
  const { place = programsMissing() === null ? 'process' : 'container' } = options;
  const password = randomBytes(12).toString('hex');
  const quick = options.isDurable === true ? {} : QUICK;
  const settings = { max_connections: '60', ...quick, ...options.settings };
  const program =
    place === 'container'
      ? await startPostgresContainer(password, settings)
      : await startPostgresProcess(password, settings);
  const server = new Server(program, password);
  await server.answers();
  return server;
}

class Server implements PostgresServerProcess {
  readonly host = '127.0.0.1';
  readonly user = POSTGRES_USER;
  readonly port: number;
  readonly password: string;
  readonly #program: PeerServer;

  constructor(program: PeerServer, password: string) {
    this.#program = program;
    this.port = program.port;
    this.password = password;
  }

  url(database: string): string {
    return `postgresql://${this.user}:${this.password}@${this.host}:${this.port}/${database}`;
  }

  async createDatabase(name: string): Promise<string> {
    await this.run(`create database "${name}" encoding 'UTF8' template template0`);
    return this.url(name);
  }

  async run(sql: string, database = 'postgres'): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url(database) });
    // A server that ends takes this connection with it.
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async answers(): Promise<void> {
    for (const until = Date.now() + START_MS; Date.now() < until; await pause(POLL_MS)) {
      if (!(await this.#program.isRunning()))
        throw new Error(`Cannot start PostgreSQL: ${await this.#program.said()}`);
      if (await succeeds(this.run('select 1'))) return;
    }
    throw new Error('Cannot start PostgreSQL: it does not answer');
  }

  async start(): Promise<void> {
    await this.#program.start();
    await this.answers();
  }

  async stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    await this.#program.end(signal);
  }

  async close(): Promise<void> {
    await this.#program.close();
  }
}

/** The one of temporal-compose.yml. */
const POSTGRES_IMAGE = 'postgres:16.10-bookworm';

/** The caller waits until it answers. */
async function startPostgresContainer(
  password: string,
  settings: Readonly<Record<string, string>>,
): Promise<PeerServer> {
  return await startPeer({
    image: POSTGRES_IMAGE,
    make: (command) => makePostgresImage(command, POSTGRES_IMAGE),
    environment: { POSTGRES_USER, POSTGRES_PASSWORD: password, POSTGRES_INITDB_ARGS: '--locale=C' },
    command: ({ host, port }) => [
      'postgres',
      ...Object.entries({ listen_addresses: host, port: String(port), ...settings }).flatMap(
        ([name, value]) => ['-c', `${name}=${value}`],
      ),
    ],
  });
}
