/**
 * A shell in memory: streams that can be a terminal, a clock that is moved by hand, Ctrl-C on demand.
 * Owns no expectation; the host is handed in.
 */
import type { Clock, Timer } from '../../ports/clock.ts';
import type { HostPort } from '../../host/host-port.ts';
import type { ChildProgram, InterruptSignal, Shell, TextStream } from '../../host/shell.ts';
import { runCli } from '../../cli/program.ts';
import { START } from './rows.ts';

export interface FakeStream extends TextStream {
  text: string;
}

export interface FakeShell extends Shell {
  readonly stdout: FakeStream;
  readonly stderr: FakeStream;
  readonly clock: FakeClock;
  readonly programs: ChildProgram[];
  /** Command lines that were started without the terminal. */
  readonly detached: (readonly string[])[];
  /** Addresses that were handed to a browser. */
  readonly opened: string[];
  interrupt(signal?: InterruptSignal): void;
}

export interface FakeClock extends Clock {
  /** Moves time and fires what is due, in order. */
  advance(ms: number): Promise<void>;
}

export interface FakeShellOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly host?: HostPort;
  /** False: nothing here opens a page. */
  readonly hasBrowser?: boolean;
  /** How a detached process ends; it runs on by default. */
  readonly detachedEnds?: Promise<number>;
  /** Size of the terminal that standard error is; none by default. */
  readonly terminal?: { readonly columns: number; readonly rows: number };
}

export function fakeShell(options: FakeShellOptions): FakeShell {
  const listeners = new Set<(signal: InterruptSignal) => void>();
  const programs: ChildProgram[] = [];
  const detached: (readonly string[])[] = [];
  const opened: string[] = [];
  let random = 0;
  return {
    cwd: options.cwd,
    env: options.env ?? {},
    stdout: stream(),
    stderr: stream(options.terminal),
    clock: fakeClock(),
    version: '1.2.3',
    programDir: options.cwd,
    programs,
    randomHex(digits) {
      random += 1;
      return random.toString(16).padStart(digits, '0');
    },
    hostPort: () =>
      options.host === undefined
        ? Promise.reject(new Error('there is no host'))
        : Promise.resolve(options.host),
    onInterrupt(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    runProgram(program) {
      programs.push(program);
      return Promise.resolve(7);
    },
    opened,
    openAddress(address) {
      opened.push(address);
      return Promise.resolve(options.hasBrowser ?? true);
    },
    detached,
    startDetached({ args }) {
      detached.push(args);
      return { ended: options.detachedEnds ?? new Promise(() => undefined) };
    },
    interrupt(signal = 'SIGINT') {
      for (const listener of [...listeners]) listener(signal);
    },
  };
}

function stream(terminal?: { readonly columns: number; readonly rows: number }): FakeStream {
  return {
    text: '',
    write(text: string) {
      this.text += text;
      return true;
    },
    ...(terminal === undefined ? {} : { isTTY: true, ...terminal }),
  };
}

function fakeClock(): FakeClock {
  let now = START;
  const timers = new Map<Timer, { readonly at: number; readonly fire: () => void }>();
  return {
    now: () => now,
    steady: () => now,
    setTimer(at, fire) {
      const timer = { cancel: () => void timers.delete(timer) };
      timers.set(timer, { at, fire });
      return timer;
    },
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        await settled();
        const [next] = [...timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at);
        if (next === undefined) break;
        now = Math.max(now, next[1].at);
        timers.delete(next[0]);
        next[1].fire();
      }
      now = end;
      await settled();
    },
  };
}

/** Lets everything that is only waiting for a promise go on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A condition that never comes is a failure, after far more time than loading a command takes. */
const UNTIL_MS = 180_000;

/** Waits for a condition, whatever has to be loaded before. */
export async function until(isMet: () => boolean): Promise<void> {
  const end = performance.now() + UNTIL_MS;
  while (!isMet()) {
    if (performance.now() > end) throw new Error('Cannot go on: the condition never came');
    await settled();
  }
}

/** Moves the clock until the command ends. */
export async function runToEnd(shell: FakeShell, argv: readonly string[]): Promise<number> {
  const running = { code: null as number | null };
  const ended = runCli(argv, shell).then((code) => (running.code = code));
  for (let step = 0; step < 200 && running.code === null; step++) await shell.clock.advance(500);
  return await ended;
}

/** Standard output as records. */
export function recordsOf(shell: FakeShell): Record<string, unknown>[] {
  return shell.stdout.text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
