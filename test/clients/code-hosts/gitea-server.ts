/**
 * A real Gitea on a free port, with one user, a token, and whatever repositories a test pushes to it.
 * Owns its folder and its end; the program is what `node scripts/gitea-tool.js` has built.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../../loopback/free-port.ts';
import type { installedGitea } from '../../../scripts/gitea-tool.js';

const OWNER = 'acme';

export interface GiteaServer {
  readonly origin: string;
  readonly token: string;
  ask(method: string, path: string, body?: object): Promise<unknown>;
  stop(): Promise<void>;
}

/** `folder` is its own, and removed by the caller. */
export async function startGitea(
  { program, staticRoot }: NonNullable<ReturnType<typeof installedGitea>>,
  folder: string,
): Promise<GiteaServer> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const config = path.join(folder, 'app.ini');
  mkdirSync(folder, { recursive: true });
  writeFileSync(config, settings({ folder, port, origin, staticRoot }));
  const given = ['--config', config, '--work-path', folder];
  const environment = { PATH: process.env['PATH'] ?? '', HOME: folder };
  const call = (...args: readonly string[]): string =>
    execFileSync(program, [...given, ...args], {
      env: environment,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  call('migrate');
  const user = ['--username', OWNER, '--password', 'a-Password-1', '--email', 'acme@example.org', '--admin'];
  const made = call(
    ...['admin', 'user', 'create', ...user, '--must-change-password=false'],
    ...['--access-token', '--access-token-name', 'parley', '--access-token-scopes', 'all'],
  );
  const token = /[0-9a-f]{40}/.exec(made)?.[0];
  if (token === undefined) throw new Error(`Gitea gives no token: ${made}`);
  const server = spawn(program, [...given, 'web'], { env: environment, stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const ask: GiteaServer['ask'] = async (method, below, body) => {
    const headers = { authorization: `token ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${origin}/api/v1${below}`, {
      ...{ method, headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${below}: ${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  while (
    !(await ask('GET', '/version').then(
      () => true,
      () => false,
    ))
  ) {
    if (server.exitCode !== null) throw new Error(`Gitea has ended with ${server.exitCode}`);
    await pause(100);
  }
  return {
    ...{ origin, token, ask },
    async stop() {
      server.kill('SIGKILL');
      await ended;
    },
  };
}

interface Settings {
  readonly folder: string;
  readonly port: number;
  readonly origin: string;
  readonly staticRoot: string;
}

function settings({ folder, port, origin, staticRoot }: Settings): string {
  return `I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = ${folder}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${origin}/
STATIC_ROOT_PATH = ${staticRoot}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = ${folder}/gitea.db
[security]
INSTALL_LOCK = true
[indexer]
ISSUE_INDEXER_TYPE = db
[log]
LEVEL = Error
`;
}
