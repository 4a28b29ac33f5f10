/**
 * A Git relay with real repositories, reached as a sandbox reaches it: through a loopback port that leads to its socket.
 * Owns directories, repositories and servers of one test.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { createCodeHosts } from '../../../clients/code-hosts/code-hosts.ts';
import type { CodeHostTemplate } from '../../../clients/code-hosts/code-hosts.ts';
import { createGitRelay } from '../../../clients/code-hosts/git-relay.ts';
import type { GitRelayOptions } from '../../../clients/code-hosts/git-relay.ts';
import { openBridge } from '../../../runtimes/process/inside/bridge.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

export interface RelayHarness {
  /** Loopback URL that leads to the relay. */
  readonly url: string;
  readonly dir: string;
  readonly warnings: readonly string[];
}

const IDENTITY = [
  '-c',
  'user.name=Test',
  '-c',
  'user.email=test@example.invalid',
  '-c',
  'init.defaultBranch=main',
];

export function gitSync(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', [...IDENTITY, ...args], {
    cwd,
    encoding: 'utf8',
    env: gitEnvironment(cwd),
  }).trim();
}

/** Runs git as a sandbox would; never rejects. */
export function git(
  cwd: string,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly text: string }> {
  return new Promise((resolve) => {
    execFile('git', [...IDENTITY, ...args], { cwd, env: gitEnvironment(cwd) }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), text: stdout + stderr });
    });
  });
}

function gitEnvironment(home: string): Record<string, string> {
  const path = process.env['PATH'] ?? '/usr/bin:/bin';
  return { PATH: path, HOME: home, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_NOSYSTEM: '1' };
}

/** `repositories/acme/app.git`, bare, with three commits on `main` and a branch `dev`. */
export function createRepository(dir: string, name = 'acme/app.git', fileBytes = 0): string {
  const work = path.join(dir, 'work', name);
  mkdirSync(work, { recursive: true });
  gitSync(work, 'init', '-q');
  for (const text of ['one', 'two', 'three']) {
    writeFileSync(path.join(work, 'file.txt'), `${text}\n${'x'.repeat(fileBytes)}`);
    gitSync(work, 'add', '.');
    gitSync(work, 'commit', '-q', '-m', text);
  }
  gitSync(work, 'branch', 'dev', 'HEAD~1');
  const bare = path.join(dir, 'repositories', name);
  gitSync(work, 'clone', '-q', '--bare', work, bare);
  return bare;
}

export async function startRelay(
  given: Partial<GitRelayOptions> & {
    readonly hosts?: Readonly<Record<string, CodeHostTemplate>>;
    readonly dir?: string;
  } = {},
): Promise<RelayHarness> {
  const dir = given.dir ?? tempDir();
  const warnings: string[] = [];
  const socketPath = path.join(tempDir(), 'git.sock');
  const hosts = given.hosts ?? { local: { url: `file:${dir}/repositories/{owner}/{repo}.git` } };
  const relay = createGitRelay({
    socketPath,
    codeHosts: createCodeHosts({ hosts }),
    allow: () => true,
    warn: (text) => warnings.push(text),
    ...given,
  });
  await relay.listen();
  const bridge = await openBridge({ port: 0, socketPath });
  onTestFinished(async () => {
    await relay.close();
    bridge.close();
  });
  return { url: `http://127.0.0.1:${(bridge.address() as AddressInfo).port}`, dir, warnings };
}

/** A loopback HTTP server that answers with `handler`; stands for a code host. */
export async function startHost(handler: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(handler ?? (() => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
