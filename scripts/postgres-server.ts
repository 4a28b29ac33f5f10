/**
 * A PostgreSQL server for tests and benches, on loopback, below a temporary folder.
 * Owns finding the programs, starting them as a user that may start them, and the end with all files. Whoever asks why
 * there is none gets a sentence.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../loopback/free-port.ts';

export interface PostgresServerProcess {
  readonly host: '127.0.0.1';
  readonly port: number;
  readonly user: 'parley';
  readonly password: string;
  /** Folder of the unix socket. */
  readonly socketDir: string;
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

/** Where Debian and others put them, beside the search path. */
const PLACES = ['/usr/lib/postgresql', '/usr/pgsql'];
/** Who may run a server when root may not; the second is on every system. */
const USERS = ['postgres', 'nobody'];
const START_MS = 60_000;
const POLL_MS = 50;
/** A test needs no bytes after a power cut, but those after a crash of the server it does. */
const QUICK = ['fsync=off', 'full_page_writes=off'];

/** Why no server can be started here; null when one can. */
export function postgresMissing(): string | null {
  if (programDir() === null) return 'the server of PostgreSQL is not installed';
  return process.getuid?.() === 0 && serverUser() === null
    ? 'root may not run it, and no other user is known'
    : null;
}

export interface ServerSettings {
  /** Lines of postgresql.conf. */
  readonly settings?: readonly string[];
  /** Keeps what is durable as slow as it is. */
  readonly isDurable?: boolean;
}

/** @throws Error the server does not start */
export async function startPostgres(options: ServerSettings = {}): Promise<PostgresServerProcess> {
  const programs = programDir();
  if (programs === null) throw new Error('Cannot start PostgreSQL: it is not installed');
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'parley-pg-')));
  const identity = process.getuid?.() === 0 ? serverUser() : null;
  if (identity !== null) chownSync(folder, identity.uid, identity.gid);
  chmodSync(folder, 0o700);
  const password = randomBytes(12).toString('hex');
  const data = path.join(folder, 'data');
  initialize({ programs, folder, data, password, identity });
  const port = await freePort();
  const lines = [
    `listen_addresses = '127.0.0.1'`,
    `port = ${port}`,
    `unix_socket_directories = '${folder}'`,
    'max_connections = 60',
    ...(options.isDurable === true ? [] : QUICK),
    ...(options.settings ?? []),
  ];
  writeFileSync(path.join(data, 'postgresql.auto.conf'), `${lines.join('\n')}\n`);
  const server = new ServerProcess({ programs, folder, data, password, port, identity });
  await server.start();
  return server;
}

interface Identity {
  readonly uid: number;
  readonly gid: number;
}

interface Parts {
  readonly programs: string;
  readonly folder: string;
  readonly data: string;
  readonly password: string;
  readonly port: number;
  readonly identity: Identity | null;
}

class ServerProcess implements PostgresServerProcess {
  readonly host = '127.0.0.1';
  readonly user = 'parley';
  readonly port: number;
  readonly password: string;
  readonly socketDir: string;
  private readonly parts: Parts;
  private child: ChildProcess | null = null;

  constructor(parts: Parts) {
    this.parts = parts;
    this.port = parts.port;
    this.password = parts.password;
    this.socketDir = parts.folder;
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

  async start(): Promise<void> {
    const { programs, data, folder, identity } = this.parts;
    const child = spawn(path.join(programs, 'postgres'), ['-D', data], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
      ...identity,
    });
    let said = '';
    child.stderr.on('data', (text: Buffer) => (said = `${said}${text.toString()}`.slice(-2_000)));
    this.child = child;
    process.once('exit', this.kill);
    for (const until = Date.now() + START_MS; Date.now() < until; await pause(POLL_MS)) {
      if (child.exitCode !== null) throw new Error(`Cannot start PostgreSQL: ${said}`);
      if (
        await this.run('select 1').then(
          () => true,
          () => false,
        )
      )
        return;
    }
    throw new Error(`Cannot start PostgreSQL: it does not answer: ${said}`);
  }

  async stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const { child } = this;
    this.child = null;
    process.off('exit', this.kill);
    if (child === null || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }

  async close(): Promise<void> {
    await this.stop('SIGINT');
    rmSync(this.parts.folder, { recursive: true, force: true });
  }

  /** For a test that dies: the server must not outlive it. */
  private readonly kill = (): void => {
    this.child?.kill('SIGQUIT');
  };
}

function initialize({ programs, folder, data, password, identity }: Omit<Parts, 'port'>): void {
  const passwordFile = path.join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (identity !== null) chownSync(passwordFile, identity.uid, identity.gid);
  const args = [
    ...['-D', data, '-U', 'parley', '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
    ...['--encoding=UTF8', '--locale=C', '--no-sync'],
  ];
  const { status, stderr } = spawnSync(path.join(programs, 'initdb'), args, {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
    ...identity,
  });
  rmSync(passwordFile);
  if (status !== 0) throw new Error(`Cannot make the files of PostgreSQL: ${stderr}`);
}

/** Folder of the newest programs. */
function programDir(): string | null {
  const onPath = (process.env['PATH'] ?? '').split(path.delimiter);
  const versions = PLACES.filter(existsSync).flatMap((place) =>
    readdirSync(place)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => path.join(place, version, 'bin')),
  );
  return [...versions, ...onPath].find((dir) => hasPrograms(dir)) ?? null;
}

function hasPrograms(dir: string): boolean {
  return existsSync(path.join(dir, 'postgres')) && existsSync(path.join(dir, 'initdb'));
}

function serverUser(): Identity | null {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const user of USERS) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${user}:`))?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  return null;
}
