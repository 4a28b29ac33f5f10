/**
 * Git in a folder of its own that is gone afterwards, on the host's side.
 * Owns the environment: no configuration and no hook of this machine's user, and a credential that is in it alone, never in an
 * argument, a URL or a file.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { STDERR_CHARS_MAX } from './limits.ts';

/** Large repositories over a slow line; past it the call has failed. */
const CALL_MS_MAX = 10 * 60_000;

export interface GitCall {
  readonly args: readonly string[];
  readonly input?: Uint8Array;
  /** Beside that of every call. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface GitEnd {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  /** The end of what it said. */
  readonly stderr: string;
}

export interface ScratchGit {
  /** Rejects only when Git cannot be started. */
  call(call: GitCall): Promise<GitEnd>;
}

interface ScratchOptions {
  /** Folder in which each has its own. */
  readonly parentDir: string;
  /** Value of the `Authorization` header for the code host; null for none. */
  readonly authorization: string | null;
}

/** An empty bare repository; it is gone when `use` ends. */
export async function withScratchGit<Result>(
  { parentDir, authorization }: ScratchOptions,
  use: (git: ScratchGit) => Promise<Result>,
): Promise<Result> {
  mkdirSync(parentDir, { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(path.join(parentDir, 'branch-'));
  try {
    // Git of a local repository reads this file too, and not what is in its caller's environment.
    const config = path.join(folder, 'config');
    writeFileSync(config, '[safe]\n\tdirectory = *\n[gc]\n\tauto = 0\n');
    const gitDir = path.join(folder, 'repository.git');
    const env = { ...environment(config), ...credential(authorization) };
    const git: ScratchGit = {
      call: (call) => run({ ...call, env: { ...env, GIT_DIR: gitDir, ...call.env } }, folder),
    };
    await run(
      { args: ['init', '--quiet', '--bare', '--template=', '--end-of-options', gitDir], env },
      folder,
    );
    return await use(git);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function environment(config: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: config,
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'file:http:https',
  };
}

/** A redirect would carry the header to the host it names, so none is followed. */
function credential(authorization: string | null): Record<string, string> {
  const settings = [
    ['http.followRedirects', 'false'],
    ...(authorization === null ? [] : [['http.extraHeader', `Authorization: ${authorization}`]]),
  ];
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(settings.length)],
    ...settings.flatMap(([key = '', value = ''], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]) as Record<string, string>;
}

function run({ args, input, env }: GitCall, cwd: string): Promise<GitEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { cwd, env, stdio: 'pipe', timeout: CALL_MS_MAX });
    const out: Buffer[] = [];
    let stderr = '';
    child.stdout.on('data', (bytes: Buffer) => out.push(bytes));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_CHARS_MAX);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ code, stdout: Buffer.concat(out).toString('utf8'), stderr: stderr.trim() });
    });
    // One that ends without reading is reported by its exit code.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input ?? '');
  });
}
