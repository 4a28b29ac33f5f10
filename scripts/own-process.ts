/**
 * Programs of this machine that tests and benches start: what they say is in a file, and none outlives its starter.
 * Owns their logs and their end, and the shape that a server has whether a process or a container is behind it.
 */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

/** A server of another project, on loopback. */
export interface PeerServer {
  readonly port: number;
  /** Begins again after an end, over the same files. */
  start(): Promise<void>;
  /** Nothing to end is success. */
  end(signal: NodeJS.Signals): Promise<void>;
  isRunning(): Promise<boolean>;
  /** What it said last. */
  said(): Promise<string>;
  /** Ends it and removes its files. */
  close(): Promise<void>;
}

const LOG_TAIL_BYTES = 2_000;

/** Starts a program that writes into a log of its name, in `dir`; `name` where its file is called otherwise. */
export function launch(
  dir: string,
  [program = '', ...args]: readonly string[],
  { name = path.basename(program), ...options }: SpawnOptions & { readonly name?: string } = {},
): ChildProcess {
  const log = openSync(path.join(dir, `${name}.log`), 'a');
  const child = spawn(program, args, { cwd: dir, stdio: ['ignore', log, log], ...options });
  closeSync(log);
  child.on('error', () => undefined);
  return child;
}

/** The end of what the program of that name said. */
export function logOf(dir: string, name: string): string {
  const file = path.join(dir, `${name}.log`);
  return existsSync(file) ? readFileSync(file, 'utf8').slice(-LOG_TAIL_BYTES) : '';
}

/** Asks it to end, and waits until it has; one that was asked and goes on for `patienceMs` is killed. */
export async function end(
  child: ChildProcess,
  signal: NodeJS.Signals = 'SIGKILL',
  patienceMs = 30_000,
): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill(signal);
  });
}

/** Whether it comes to a good end. */
export const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

/** With a zero byte behind each word; empty for a process that has ended, or is none. */
export function commandLineOf(pid: number | string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** False where no such process is left. */
export function trySignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

interface ServerOrder {
  readonly port: number;
  /** Its own: removed at the end. */
  readonly folder: string;
  readonly command: readonly string[];
  readonly options?: SpawnOptions;
}

/** A server as a process of this machine. */
export class ServerProcess implements PeerServer {
  readonly port: number;
  private readonly order: ServerOrder;
  private child: ChildProcess | null = null;

  constructor(order: ServerOrder) {
    this.port = order.port;
    this.order = order;
  }

  start(): Promise<void> {
    const { folder, command, options } = this.order;
    this.child = launch(folder, command, { name: 'server', ...options });
    process.once('exit', this.kill);
    return Promise.resolve();
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    this.child = null;
    process.off('exit', this.kill);
    if (child !== null) await end(child, signal);
  }

  isRunning(): Promise<boolean> {
    const { child } = this;
    return Promise.resolve(child !== null && child.exitCode === null && child.signalCode === null);
  }

  said(): Promise<string> {
    return Promise.resolve(logOf(this.order.folder, 'server'));
  }

  async close(): Promise<void> {
    await this.end('SIGINT');
    rmSync(this.order.folder, { recursive: true, force: true, maxRetries: 20 });
  }

  /** For a test that dies. SIGQUIT ends PostgreSQL with its children. */
  private readonly kill = (): void => {
    this.child?.kill('SIGQUIT');
  };
}
