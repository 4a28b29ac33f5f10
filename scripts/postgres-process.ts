/**
 * PostgreSQL as a process, of the programs of this machine, below a temporary folder.
 * Owns finding the programs, and starting them as a user that may start them; postgres-server.ts asks it.
 */
import { spawnSync } from 'node:child_process';
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
import { freePort } from '../loopback/free-port.ts';
import { ServerProcess, type PeerServer } from './own-process.ts';

/** Owns every database. */
export const POSTGRES_USER = 'parley';
/** Where Debian and others put them, beside the search path. */
const PLACES = ['/usr/lib/postgresql', '/usr/pgsql'];
/** Who may run a server when root may not; the second is on every system. */
const USERS = ['postgres', 'nobody'];

/** Why no process can be started here; null when one can. */
export function programsMissing(): string | null {
  if (programDir() === null) return 'the server of PostgreSQL is not installed';
  return process.getuid?.() === 0 && serverUser() === null
    ? 'root may not run it, and no other user is known'
    : null;
}

interface Identity {
  readonly uid: number;
  readonly gid: number;
}

interface Parts {
  readonly programs: string;
  readonly folder: string;
  readonly data: string;
  readonly identity: Identity | null;
}

export async function startPostgresProcess(
  password: string,
  settings: Readonly<Record<string, string>>,
): Promise<PeerServer> {
  const programs = programDir();
  if (programs === null) throw new Error('Cannot start PostgreSQL: it is not installed');
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'parley-pg-')));
  const identity = process.getuid?.() === 0 ? serverUser() : null;
  if (identity !== null) chownSync(folder, identity.uid, identity.gid);
  chmodSync(folder, 0o700);
  const data = path.join(folder, 'data');
  initialize({ programs, folder, data, password, identity });
  const port = await freePort();
  const own = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: folder };
  const lines = Object.entries({ ...own, ...settings }).map(([name, value]) => `${name} = '${value}'`);
  writeFileSync(path.join(data, 'postgresql.auto.conf'), `${lines.join('\n')}\n`);
  const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' };
  const command = [path.join(programs, 'postgres'), '-D', data];
  const server = new ServerProcess({ port, folder, command, options: { env, ...identity } });
  await server.start();
  return server;
}

function initialize({ programs, folder, data, password, identity }: Parts & { password: string }): void {
  const passwordFile = path.join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (identity !== null) chownSync(passwordFile, identity.uid, identity.gid);
  const args = [
    ...['-D', data, '-U', POSTGRES_USER, '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
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
