/**
 * A Temporal server for one machine: started, waited for, and ended with the process that started it.
 * Owns the child; must not touch a server that it did not start.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { registerOnServer } from '../register.ts';
import { findCli } from './find-cli.ts';
import { freePort, isPortFree } from '../../loopback/free-port.ts';
import type { Environment } from './program.ts';
import { serverArguments, type DevServerLogLevel, type DynamicConfig } from './server-arguments.ts';

/** Where a dev server keeps its data and where it listens. */
export interface DevServerOptions {
  /** Where the CLI is searched (`PARLEY_TEMPORAL_CLI`, `PATH`, `GOBIN`, `GOPATH`, `HOME`, `PARLEY_TOOLS_DIR`). */
  readonly env: Environment;
  readonly namespace: string;
  /** Absent or 0: one that is free. */
  readonly port?: number;
  /** Absent: no user interface; 0: one that is free. */
  readonly uiPort?: number;
  /** Absent: everything is in memory and gone at the end. */
  readonly databaseFile?: string;
  /** Default `error`. */
  readonly logLevel?: DevServerLogLevel;
  readonly onLogLine?: (line: string) => void;
  /** Settings of the server besides those for a small machine. */
  readonly dynamicConfig?: DynamicConfig;
  /** Ends the server, and the waiting for it. */
  readonly signal?: AbortSignal;
}

/** A server of Temporal that this process started. */
export interface DevServer {
  /** `127.0.0.1:PORT` */
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string | null;
  readonly pid: number;
  /** Resolves when the server has ended, with whether it was stopped here and the last line that it printed. */
  readonly ended: Promise<DevServerEnd>;
  /** Sends the server SIGTERM, and SIGKILL after 10 s. A repeat waits too. */
  stop(): Promise<void>;
}

export interface DevServerEnd {
  readonly stopped: boolean;
  readonly lastLine: string | null;
}

/** A start takes a second or two; on a busy machine, or with a large database, far longer. */
const START_MS_MAX = 60_000;
/** An orderly end takes well under a second. */
const STOP_MS_MAX = 10_000;
/** A server that starts is polled this often. */
const POLL_MS = 50;
/** Closed workflows of a development server can be read for a day, as by its own default. */
const RETENTION_DAYS = 1;

/**
 * Resolves when the server answers, and has the namespace and the search attributes.
 * @throws ParleyError engine_misconfigured without a CLI or with a port that is taken; engine_unreachable when the
 * server ends or does not answer in time; the reason of `signal` when it aborts
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const cli = await findCli(options.env);
  const port = await portOf(options.port);
  const uiPort = options.uiPort === undefined ? null : await portOf(options.uiPort);
  if (options.databaseFile !== undefined) mkdirSync(path.dirname(options.databaseFile), { recursive: true });
  options.signal?.throwIfAborted();
  const args = serverArguments({
    port,
    uiPort,
    namespace: options.namespace,
    databaseFile: options.databaseFile ?? null,
    logLevel: options.logLevel ?? 'error',
    dynamicConfig: options.dynamicConfig ?? {},
  });
  const child = launch(cli, { args, options });
  const server: DevServer = {
    address: `127.0.0.1:${port}`,
    namespace: options.namespace,
    uiUrl: uiPort === null ? null : `http://127.0.0.1:${uiPort}`,
    pid: child.pid,
    ended: child.ended,
    stop: child.stop,
  };
  options.signal?.addEventListener('abort', () => void child.stop(), { once: true });
  try {
    await untilReady(server, options.signal);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return server;
}

async function portOf(wanted: number | undefined): Promise<number> {
  if (wanted === undefined || wanted === 0) return await freePort();
  if (await isPortFree(wanted)) return wanted;
  const message = `Cannot start a Temporal server: port ${wanted} is taken`;
  throw new ParleyError('engine_misconfigured', message, {
    remedy: 'end what listens there, or choose another port',
  });
}

interface Launched {
  readonly pid: number;
  readonly ended: Promise<DevServerEnd>;
  stop(): Promise<void>;
}

interface Launch {
  readonly args: readonly string[];
  readonly options: Pick<DevServerOptions, 'env' | 'onLogLine'>;
}

/** @throws ParleyError engine_misconfigured when the program cannot be run */
function launch(cli: string, { args, options }: Launch): Launched {
  let stopping = false;
  const lines = new LastLines((line) => {
    // A server that ends complains about its own parts, which end one by one.
    if (!stopping) options.onLogLine?.(line);
  });
  // It prints only its own addresses besides errors and logs, and we chose them.
  // A group of its own: Ctrl-C of a terminal must reach us alone, so that workers end before their server.
  const child = spawn(cli, args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true, env: options.env });
  child.stderr.setEncoding('utf8').on('data', (text: string) => lines.add(text));
  let unguard = (): Promise<void> => Promise.resolve();
  const ended = new Promise<DevServerEnd>((resolve) => {
    child.once('error', (error) => lines.add(`${error.message}\n`));
    child.once('close', () => {
      const end = { stopped: stopping, lastLine: lines.last() };
      // The end is reported only once the guard of the server has ended, too.
      void unguard().then(() => resolve(end));
    });
  });
  if (child.pid === undefined) {
    throw new ParleyError('engine_misconfigured', `Cannot start a Temporal server: "${cli}" cannot be run`, {
      remedy: 'install the Temporal CLI anew, or name another in PARLEY_TEMPORAL_CLI',
    });
  }
  unguard = guardChild(child.pid);
  child.once('exit', () => void unguard());
  const stop = async (): Promise<void> => {
    stopping = true;
    await endChild(child, ended);
  };
  return { pid: child.pid, ended, stop };
}

async function endChild(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await ended;
  clearTimeout(timer);
}

/** Waits until the server is ready; its end, the time and `signal` end the waiting. */
async function untilReady(server: DevServer, signal: AbortSignal | undefined): Promise<void> {
  const waiting = new AbortController();
  const over = server.ended.then(({ lastLine }): never => {
    signal?.throwIfAborted();
    const because = lastLine === null ? 'it ended at once' : `it said "${lastLine}"`;
    throw new ParleyError('engine_unreachable', `Cannot start a Temporal server: ${because}`, {
      remedy: 'correct what it says; a database file of another version must be moved away',
    });
  });
  try {
    await Promise.race([untilRegistered(server, waiting.signal), over]);
    // It may still have answered while it was already ending.
    signal?.throwIfAborted();
  } finally {
    waiting.abort();
  }
}

/** Polls until the server answers and has everything; a database that existed may lack namespace and attributes. */
async function untilRegistered(server: DevServer, signal: AbortSignal): Promise<void> {
  const untilMs = Date.now() + START_MS_MAX;
  for (;;) {
    try {
      await registerOnServer({ ...server, retentionDays: RETENTION_DAYS });
      return;
    } catch (error) {
      const isEarly = error instanceof ParleyError && error.code === 'engine_unreachable';
      if (!isEarly || signal.aborted || Date.now() > untilMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/**
 * Reads until its input ends, which happens when we do, and then ends the child: SIGTERM, and SIGKILL after ten
 * seconds. The shell reads by itself: with a program for that there would be a second process to end.
 */
const SCRIPT = 'while read -r _; do :; done; kill -TERM "$1" || exit; sleep 10; kill -KILL "$1"';

/**
 * Watches over the child of id `pid`; returns how to stop watching, which must be called as soon as the child has ended
 * and resolves when the watcher has, too; a repeat waits as well. Where there is no POSIX shell the child is not watched, and outlives a kill of this process.
 */
function guardChild(pid: number): () => Promise<void> {
  if (process.platform === 'win32') return () => Promise.resolve();
  // A session of its own: Ctrl-C of a terminal goes to the whole group, and the guard must outlive us.
  const guard = spawn('sh', ['-c', SCRIPT, 'parley-guard', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without a shell there is no guard; the server works all the same.
  const gone = new Promise<void>((resolve) => guard.once('exit', resolve).once('error', () => resolve()));
  guard.unref();
  return () => {
    guard.ref();
    guard.kill('SIGKILL');
    return gone;
  };
}

/** An error of the server is in its last line; a few before it help to see why. */
const LINES_MAX = 20;

/** The last lines that a program printed, for the sentence about its end. */
class LastLines {
  private readonly lines: string[] = [];
  private rest = '';
  private readonly onLine: (line: string) => void;

  constructor(onLine: (line: string) => void) {
    this.onLine = onLine;
  }

  add(text: string): void {
    const parts = (this.rest + text).split('\n');
    this.rest = parts.pop() ?? '';
    for (const line of parts.map((part) => part.trimEnd()).filter((part) => part !== '')) {
      this.lines.push(line);
      if (this.lines.length > LINES_MAX) this.lines.shift();
      this.onLine(line);
    }
  }

  /** Null when nothing was printed. */
  last(): string | null {
    const rest = this.rest.trim();
    return rest === '' ? (this.lines.at(-1) ?? null) : rest;
  }
}
