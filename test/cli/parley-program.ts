/**
 * The real `parley` command as a child process, for tests of what a user sees.
 * Owns the start and the collected output; must not assert.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '../..');
export const PARLEY = path.join(ROOT, 'bin', 'parley.js');

export interface ProgramResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `node bin/parley.js` with nothing of the test's own environment that the command would read. */
export function parley(
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<ProgramResult> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PARLEY_'));
  const env = { ...Object.fromEntries(inherited), NO_COLOR: '1', ...options.env };
  const child = spawn(process.execPath, [PARLEY, ...args], { cwd: options.cwd, env });
  const read = (stream: NodeJS.ReadableStream): Promise<string> =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      stream.on('error', reject);
    });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return Promise.all([read(child.stdout), read(child.stderr), ended]).then(([stdout, stderr, exitCode]) => ({
    exitCode,
    stdout,
    stderr,
  }));
}
