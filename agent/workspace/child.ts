/**
 * One child process run to its end, with bounded output and a deadline. Owns the process group and nothing else:
 * what a command means is the caller's part. Nothing secret is ever an argument.
 */
import { Readable, pipeline, type Writable } from 'node:stream';

import { BASH_DRAIN_MS } from '../limits.ts';
import { startTool } from '../toolbox.ts';

interface ChildOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Given to the child on file descriptor 3: a text, or all that a stream brings. */
  readonly script?: string | Buffer | Readable;
  readonly timeoutMs: number;
  readonly onStdout: (chunk: Buffer) => void;
  readonly onStderr: (chunk: Buffer) => void;
  /** Kills the child early. */
  readonly signal?: AbortSignal;
}

/** The exit code (128 + n for a signal), or null when time ran out or the signal fired. */
export async function runChild(options: ChildOptions): Promise<number | null> {
  const { child, signal } = await startTool(options.program, options.args, {
    cwd: options.cwd,
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const [, stdout, stderr, control] = child.stdio as unknown as [null, Readable, Readable, Writable];
  stdout.on('data', options.onStdout);
  stderr.on('data', options.onStderr);
  // A child that ends without reading its script breaks the pipe; its exit code says why.
  control.on('error', () => undefined);
  // A stream that breaks off ends here, too: its sender sees that it is not whole.
  if (options.script instanceof Readable) pipeline(options.script, control, () => undefined);
  else control.end(options.script ?? '');
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    signal('SIGKILL');
  };
  const timer = setTimeout(stop, options.timeoutMs);
  options.signal?.addEventListener('abort', stop, { once: true });
  if (options.signal?.aborted === true) stop();
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (exitCode) => resolve(exitCode ?? SIGNALLED));
      // A background process may hold the pipes open long after the command itself has ended.
      child.on('exit', (exitCode) => setTimeout(() => resolve(exitCode ?? SIGNALLED), BASH_DRAIN_MS).unref());
    });
    return stopped ? null : code;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', stop);
    stdout.destroy();
    stderr.destroy();
  }
}

/** What a shell reports for a program ended by SIGKILL; the usual cause is a memory limit. */
const SIGNALLED = 137;
