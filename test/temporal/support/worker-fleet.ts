/**
 * Worker processes that are started, killed without warning and replaced.
 * Owns the processes it started; must not know what they work on.
 */
import { buildSync } from 'esbuild';
import { spawn, type ChildProcess } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { endProcess } from '../../helpers/end-process.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import type { WorkerRequest } from './worker-process.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

const STARTS_MAX = 10;

export class WorkerFleet {
  kills = 0;
  private readonly program: string;
  private readonly request: WorkerRequest;
  private readonly workers: ChildProcess[] = [];

  constructor(request: WorkerRequest) {
    this.request = request;
    this.program = buildProgram('runWorkerProcess', 'worker-process.ts');
    onTestFinished(() => this.end());
  }

  /** Resolves when the new process polls for work; one that finds its server too busy to answer is begun again. */
  async add(): Promise<void> {
    for (let tries = 0; tries < STARTS_MAX; tries += 1) if (await this.start()) return;
    throw new Error(`Cannot start a worker: ${STARTS_MAX} ended before they were up`);
  }

  /** False: it ended before it was up. */
  private async start(): Promise<boolean> {
    const child = spawn(process.execPath, [this.program, JSON.stringify(this.request)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.workers.push(child);
    for await (const line of createInterface({ input: child.stdout })) if (line === 'up') return true;
    this.workers.splice(this.workers.indexOf(child), 1);
    return false;
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
    await Promise.all(this.workers.splice(0).map((child) => endProcess(child)));
  }
}

/** A program whose one argument is what `run` of a file beside this one is given, as JSON. */
export function buildProgram(run: string, file: string): string {
  const folder = tempDir();
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const outfile = path.join(folder, 'program.mjs');
  const contents = `import { ${run} } from './${file}'; await ${run}(JSON.parse(process.argv[2]));`;
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
