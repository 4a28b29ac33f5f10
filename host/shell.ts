/**
 * What a command may use of the process around it, so that a test can stand in for a terminal.
 * Owns the interface; the real one is in process-shell.ts.
 */
import type { Clock } from '../ports/clock.ts';
import type { HostPort } from './host-port.ts';

/** Standard output or standard error. */
export interface TextStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** Absent for anything but a terminal. */
  readonly columns?: number;
  readonly rows?: number;
}

/** A program of ours that a command starts. */
export interface ChildProgram {
  /** File name below `programDir`. */
  readonly file: string;
  readonly args: readonly string[];
}

/** What surrounds a command: folder, environment, streams, signals. */
export interface Shell {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The result, and nothing else. */
  readonly stdout: TextStream;
  /** For people. */
  readonly stderr: TextStream;
  readonly clock: Clock;
  readonly version: string;
  /** Folder of the built programs. */
  readonly programDir: string;
  /** Lower-case hex digits. */
  randomHex(digits: number): string;
  /** Loads the wired parts; nothing of them is loaded before. */
  hostPort(): Promise<HostPort>;
  /** Calls `listener` for every Ctrl-C, or end of the terminal; returns a function that stops listening. */
  onInterrupt(listener: (signal: InterruptSignal) => void): () => void;
  /** Runs a program on the same terminal, forwards signals, and resolves with its exit code. */
  runProgram(program: ChildProgram): Promise<number>;
  /**
   * Passes an address of a file or a page to the program that opens such here. False when there is none, or when it
   * refuses; resolves without waiting for it to be closed again.
   */
  openAddress(address: string): Promise<boolean>;
  /** Starts this program once more, without this terminal: it outlives this process, and writes into a file. */
  startDetached(options: { readonly args: readonly string[]; readonly logFile: string }): Detached;
}

/** A program that outlives the command that started it. */
export interface Detached {
  /** Resolves with its exit code, should it end while the command still waits. */
  readonly ended: Promise<number>;
}

export type InterruptSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/**
 * How the person who reads this calls the program, for the commands that it prints: `npm start --` in a fresh checkout,
 * where nothing is on the search path.
 */
export function calledAs({ env }: Pick<Shell, 'env'>): string {
  return env['PARLEY_COMMAND'] || 'parley';
}
