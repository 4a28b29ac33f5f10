/**
 * `parley serve` as a real process, and calls to it.
 * Owns the start, the configuration that a test names, and the end of the child and its sandboxes; must not assert.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { endProcess, type AtEnd } from '../helpers/end-process.ts';
import { PARLEY } from '../cli/parley-program.ts';
import { processesOf } from '../e2e/process-list.ts';
import { send, type ServiceAnswer, type ServiceCall } from './service.ts';

export interface Served {
  readonly url: string;
  /** The first one of a data directory prints it. */
  readonly key: string | null;
  readonly child: ChildProcess;
  /** What it said to people, so far. */
  notices(): string;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface ServeOptions {
  /** Text of parley.yaml. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Beyond those that every one gets. */
  readonly args?: readonly string[];
  /** For Node itself. */
  readonly execArgv?: readonly string[];
  /** Where it ends at last: with the test, when left out. */
  readonly atEnd?: AtEnd;
}

/** Sandboxes as plain processes that never become idle. */
export const PLAIN = 'runtime: { isolation: none }\nlimits: { idle_time: 0 }\n';

/** In `folder`, whose `data` is the data directory: what an earlier one left there goes on. */
export async function serve(folder: string, options: ServeOptions = {}): Promise<Served> {
  const { config = PLAIN, env = {}, execArgv = [], args: more = [] } = options;
  writeFileSync(path.join(folder, 'parley.yaml'), config);
  const args = ['serve', '--config', 'parley.yaml', '--port', '0', '--data', 'data', '--json', ...more];
  const child = spawn(process.execPath, [...execArgv, PARLEY, ...args], {
    cwd: folder,
    env: { ...inherited(), NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  (options.atEnd ?? onTestFinished)(() => endAll(folder, child));
  let notices = '';
  child.stderr.on('data', (text: Buffer) => (notices += text.toString()));
  for await (const line of createInterface({ input: child.stdout })) {
    const { type, url, key } = JSON.parse(line) as { type: string; url: string; key: string | null };
    if (type !== 'serving') continue;
    const exited = once(child, 'exit') as Promise<[number | null]>;
    return {
      ...{ url, key, child },
      notices: () => notices,
      async end(signal) {
        child.kill(signal);
        return (await exited)[0];
      },
    };
  }
  throw new Error(`it ended before it served: ${notices}`);
}

/** Sandboxes outlive their service, so that the next one takes them over. After the test there is no next one. */
async function endAll(folder: string, child: ChildProcess): Promise<void> {
  await endProcess(child);
  for (const { pid } of processesOf(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // One of them ended with another.
    }
  }
}

function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PARLEY_')));
}

/** One call; rejects when the connection breaks before the answer. */
export function callServed({ url }: Served, key: string, call: ServiceCall): Promise<ServiceAnswer> {
  return send(url, call.key === undefined ? key : call.key, call);
}
