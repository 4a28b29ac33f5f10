/**
 * Programs that tests of the store run as processes of their own, to kill or to race them.
 * Owns building one from its TypeScript source, and reading what it says line by line.
 */
import { buildSync } from 'esbuild';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { endProcess } from '../helpers/end-process.ts';
import type { ProgramName } from './children/programs.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

export interface ChildProgram {
  readonly pid: number;
  /** What it printed, line by line; ends with the process. */
  readonly lines: AsyncIterator<string>;
  /** Lets a program go on that waits at `atTheGate`. */
  go(): void;
  /** Ends it at once, as a power cut would, and waits until it is gone. */
  kill(): Promise<void>;
  /** Waits for its end; its exit code. */
  ended(): Promise<number | null>;
}

/** Builds the programs into `folder`, from where `startChild` starts each any number of times. */
export function buildChildren(folder: string): string {
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const outfile = path.join(folder, 'programs.mjs');
  buildSync({
    stdin: {
      contents: `import { runProgram } from './children/programs.ts'; await runProgram(process.argv.slice(2));`,
      resolveDir: import.meta.dirname,
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  return outfile;
}

/** Starts a built program; it is killed when the running test ends. */
export function startChild(program: string, ...args: readonly [ProgramName, ...string[]]): ChildProgram {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(process.execPath, [program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  onTestFinished(() => endProcess(child));
  return {
    pid: child.pid ?? 0,
    lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
    go() {
      child.stdin.end('go\n');
    },
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
    ended: () => exit,
  };
}

/** Waits until every program is at its gate, and lets them all go. */
export async function releaseTogether(programs: readonly ChildProgram[]): Promise<void> {
  const said = await Promise.all(programs.map(async (program) => String((await program.lines.next()).value)));
  if (said.some((line) => line !== 'ready'))
    throw new Error(`Cannot release the programs: one said "${said.join('", "')}"`);
  for (const program of programs) program.go();
}
