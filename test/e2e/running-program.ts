/**
 * A program of the batch while it runs: its output so far, the next line that fits, and its end.
 * Owns one child process; the test that started it closes the copy it runs in.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { BatchCopy } from './batch-copy.ts';

export interface ProgramEnd {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningProgram {
  readonly pid: number;
  /** Everything it wrote, both streams. */
  readonly ended: Promise<ProgramEnd>;
  /** True once standard error has text that fits; false when the program ends without. */
  says(pattern: RegExp): Promise<boolean>;
  /** The first group of the pattern, once standard output has text that fits. */
  line(pattern: RegExp): Promise<string>;
  /** Ends this process at once, and no other. */
  kill(): void;
}

/** Starts `program`, a path below the copy's root, in the folder of the example. */
export function startProgram(
  copy: BatchCopy,
  program: 'bin/parley.js' | 'examples/first-batch/main.js' | 'examples/three-hundred/main.js',
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningProgram {
  const child = spawn(process.execPath, [path.join(copy.root, program), ...args], {
    cwd: copy.example,
    env: { ...copy.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return runningProgram(child);
}

/** Follows a child that was started just now. */
export function runningProgram(child: ChildProcessByStdio<null, Readable, Readable>): RunningProgram {
  let stdout = '';
  let stderr = '';
  let isOver = false;
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const poll of waiting) poll();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    wake();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    wake();
  });
  const ended = new Promise<ProgramEnd>((resolve, reject) => {
    child.once('error', reject);
    // Not "close": what the program leaves running may hold its output open.
    child.once('exit', (code) => {
      setImmediate(() => {
        isOver = true;
        wake();
        resolve({ code, stdout, stderr });
      });
    });
  });
  return {
    pid: child.pid ?? 0,
    ended,
    says: (pattern) =>
      new Promise((resolve) => {
        const poll = (): void => {
          if (!pattern.test(stderr) && !isOver) return;
          waiting.delete(poll);
          resolve(pattern.test(stderr));
        };
        waiting.add(poll);
        poll();
      }),
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const poll = (): void => {
          const [, found] = pattern.exec(stdout) ?? [];
          if (found === undefined && !isOver) return;
          waiting.delete(poll);
          if (found === undefined) reject(new Error(`it ended without ${String(pattern)}: ${stderr}`));
          else resolve(found);
        };
        waiting.add(poll);
        poll();
      }),
    kill: () => void child.kill('SIGKILL'),
  };
}

/** Runs a program to its end. */
export function runProgram(...start: Parameters<typeof startProgram>): Promise<ProgramEnd> {
  return startProgram(...start).ended;
}
