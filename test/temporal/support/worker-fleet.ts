/**
 * Worker processes that are started, killed without warning and replaced.
 * Owns the processes it started; must not know what they work on.
 */
import { buildSync } from 'esbuild';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { tempDir } from '../../helpers/temp-dir.ts';
import type { WorkerRequest } from './worker-process.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

export class WorkerFleet {
  kills = 0;
  private readonly program: string;
  private readonly request: WorkerRequest;
  private readonly workers: ChildProcess[] = [];

  constructor(request: WorkerRequest) {
    this.request = request;
    this.program = buildProgram();
    onTestFinished(() => this.end());
  }

  /** Resolves when the new process polls for work. */
  async add(): Promise<void> {
    const child = spawn(process.execPath, [this.program, JSON.stringify(this.request)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.workers.push(child);
    for await (const line of createInterface({ input: child.stdout })) if (line === 'up') break;
  }

  /** Kills the one that lives longest; another takes its place. */
  async replaceOldest(): Promise<void> {
    const oldest = this.workers.shift();
    if (oldest === undefined || oldest.exitCode !== null)
      throw new Error('Cannot kill a worker: it ended by itself');
    oldest.kill('SIGKILL');
    this.kills += 1;
    await this.add();
  }

  async end(): Promise<void> {
    await Promise.all(
      this.workers.splice(0).map(async (child) => {
        const exit = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null;
        child.kill('SIGKILL');
        await exit;
      }),
    );
  }
}

function buildProgram(): string {
  const folder = tempDir();
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const outfile = path.join(folder, 'worker-process.mjs');
  const contents = `import { runWorkerProcess } from './worker-process.ts'; await runWorkerProcess(JSON.parse(process.argv[2]));`;
  buildSync({
    stdin: { contents, resolveDir: import.meta.dirname },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  return outfile;
}
