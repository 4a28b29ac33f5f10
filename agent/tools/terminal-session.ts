/**
 * One long-lived bash of a conversation: working directory, variables and functions last from command to command.
 * Commands reach it over a pipe of its own, never as arguments, and their standard input is empty, so that no command
 * can eat the next one or wait for input that never comes. Owns the process; has no part in tools or text limits.
 */
import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

import { TERMINAL_BUFFER_BYTES_MAX, TERMINAL_INTERRUPT_GRACE_MS } from '../limits.ts';
import { shellEnvironment } from '../workspace/shell-environment.ts';
import { ByteWindow } from '../text-bound.ts';
import { startTool, type ToolProcess } from '../toolbox.ts';

/**
 * The shell is an interactive one without a terminal: only such a shell ends a whole command line at an interrupt, loops
 * and lists included, and stays. What comes with it and is of no use here is switched off: prompts, history, `!`, mail.
 * Until then its complaints about the missing terminal are dropped.
 */
const SETUP = `exec 2>&1 5>&1; PS1= PS2= PROMPT_COMMAND='PS1= PS2='; unset PS0 TMOUT MAIL MAILCHECK HISTFILE; history -c; set +H +o history; shopt -u expand_aliases checkwinsize; __parley_status() { return "$1"; }; __parley_rc=0
`;
/**
 * Two lines for each command, because an interrupt throws away the line that runs. Marker and command come NUL-ended over
 * a pipe of their own. The marker goes to a copy of standard output that commands do not have, so it follows all their
 * output even if they redirect it.
 */
const STEP = `IFS= read -r -d '' -u 3 __parley_marker && IFS= read -r -d '' -u 3 __parley_command && __parley_status "$__parley_rc"; eval "$__parley_command" 3<&- 5>&- </dev/null
__parley_rc=$?; printf '\\036%s %s %s\\036' "$__parley_marker" "$__parley_rc" "$PWD" >&5
`;

const MARK = 0x1e;
/** Time for the last output of a shell that has ended. */
const SHELL_DRAIN_MS = 100;

export interface CommandEnd {
  readonly exitCode: number;
  readonly workingDir: string;
  /** The command ended the shell itself; variables and functions are gone. */
  readonly shellEnded: boolean;
}

interface Running {
  readonly command: string;
  readonly marker: Buffer;
  window: ByteWindow;
  /** Output bytes that may be the start of a marker. */
  held: Buffer;
  readonly ended: Promise<CommandEnd>;
  readonly settle: (end: CommandEnd) => void;
}

export class TerminalSession {
  readonly #child: ChildProcess;
  readonly #signalGroup: ToolProcess['signal'];
  readonly #control: Writable;
  readonly #decoder = new StringDecoder('utf8');
  /** What the shell reads as its input. */
  readonly #lines: Writable;
  #running: Running | null = null;
  #end: CommandEnd | null = null;
  /** What the command that ended last printed, until it is taken. */
  #leftover = '';
  #alive = true;
  #workingDir: string;
  /** Called at each piece of output. */
  onOutput: () => void = () => undefined;
  /** Called with the output of commands as it comes, as text. */
  onText: (text: string) => void = () => undefined;

  /** Resolves with a shell that is on its way; one that cannot be started ends its first command. */
  static async open(options: {
    readonly workingDir: string;
    readonly secrets: Readonly<Record<string, string>>;
  }): Promise<TerminalSession> {
    const shell = await startTool('bash', ['--noprofile', '--norc', '--noediting', '-i'], {
      cwd: options.workingDir,
      env: shellEnvironment(options.secrets),
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
    });
    return new TerminalSession(shell, options.workingDir);
  }

  private constructor({ child, signal }: ToolProcess, workingDir: string) {
    this.#workingDir = workingDir;
    this.#child = child;
    this.#signalGroup = signal;
    this.#control = this.#child.stdio[3] as Writable;
    this.#lines = this.#child.stdio[0] as Writable;
    for (const pipe of [this.#control, this.#lines]) pipe.on('error', () => undefined);
    this.#lines.write(SETUP);
    this.#child.on('error', () => this.#shellEnded(-1));
    this.#child.on('exit', (code, signal) => this.#shellEnded(code ?? (signal === null ? -1 : 137)));
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#received(chunk));
    this.#child.stdout?.on('error', () => undefined);
  }

  get alive(): boolean {
    return this.#alive;
  }
  get busy(): boolean {
    return this.#running !== null;
  }
  get workingDir(): string {
    return this.#workingDir;
  }
  get pid(): number {
    return this.#child.pid ?? -1;
  }
  get command(): string | null {
    return this.#running?.command ?? null;
  }

  /** Starts a command; the session must be alive and not busy. `marker` is unguessable and used once. */
  start(command: string, marker: string): void {
    if (this.#running !== null) throw new Error('Cannot start command: another one is running');
    let settle: (end: CommandEnd) => void = () => undefined;
    const ended = new Promise<CommandEnd>((resolve) => (settle = resolve));
    const mark = Buffer.from(`\x1e${marker} `, 'utf8');
    const window = new ByteWindow(TERMINAL_BUFFER_BYTES_MAX);
    this.#end = null;
    this.#running = { command, marker: mark, window, held: Buffer.alloc(0), ended, settle };
    this.#control.write(`${marker}\0${command}\0`);
    this.#lines.write(STEP);
    if (!this.#alive) this.#shellEnded(-1);
  }

  /** Resolves when the running command ends; at once when none runs. */
  async ended(): Promise<void> {
    await this.#running?.ended;
  }

  /** Output since the last call, and the end of the command when it has ended. */
  take(): { readonly end: CommandEnd | null; readonly output: string } {
    const running = this.#running;
    if (running !== null) {
      const output = running.window.text();
      running.window = new ByteWindow(TERMINAL_BUFFER_BYTES_MAX);
      return { end: null, output };
    }
    const output = this.#leftover;
    this.#leftover = '';
    return { end: this.#end, output };
  }

  /**
   * Sends an interrupt, as Ctrl-C does, to what runs, and once more to a command line that goes on behind a program which
   * took the first one for its own; whatever ignores both is killed together with the shell.
   */
  async interrupt(): Promise<void> {
    const running = this.#running;
    if (running === null) return;
    this.#signal('SIGINT');
    const again = setTimeout(() => this.#signal('SIGINT'), TERMINAL_INTERRUPT_GRACE_MS / 2);
    const late = setTimeout(() => this.close(), TERMINAL_INTERRUPT_GRACE_MS);
    await running.ended;
    clearTimeout(again);
    clearTimeout(late);
  }

  /** Kills the shell and everything in its process group. */
  close(): void {
    this.#signal('SIGKILL');
  }

  #signal(signal: NodeJS.Signals): void {
    this.#signalGroup(signal);
  }

  #received(chunk: Buffer): void {
    const running = this.#running;
    if (running === null) return;
    this.onOutput();
    const bytes = Buffer.concat([running.held, chunk]);
    const start = bytes.indexOf(running.marker);
    if (start < 0) {
      const keep = Math.min(bytes.length, running.marker.length - 1);
      const lastMark = bytes.lastIndexOf(MARK);
      const split = lastMark >= bytes.length - keep ? lastMark : bytes.length;
      this.#printed(running, bytes.subarray(0, split));
      running.held = Buffer.from(bytes.subarray(split));
      return;
    }
    const stop = bytes.indexOf(MARK, start + running.marker.length);
    if (stop < 0) {
      running.held = Buffer.from(bytes);
      return;
    }
    this.#printed(running, bytes.subarray(0, start));
    const [, exitCode, workingDir] =
      /^(\d+) (.*)$/s.exec(bytes.toString('utf8', start + running.marker.length, stop)) ?? [];
    this.#workingDir = workingDir ?? this.#workingDir;
    this.#settle({ exitCode: Number(exitCode ?? -1), workingDir: this.#workingDir, shellEnded: false });
  }

  #printed(running: Running, bytes: Buffer): void {
    running.window.push(bytes);
    this.onText(this.#decoder.write(bytes));
  }

  #shellEnded(exitCode: number): void {
    this.#alive = false;
    const running = this.#running;
    if (running === null) return;
    const finish = (): void => {
      if (this.#running !== running) return;
      this.#printed(running, running.held);
      this.#settle({ exitCode, workingDir: this.#workingDir, shellEnded: true });
    };
    // The last output may still be in the pipe, which a background process may keep open for ever.
    this.#child.once('close', finish);
    setTimeout(finish, SHELL_DRAIN_MS);
  }

  #settle(end: CommandEnd): void {
    const running = this.#running;
    if (running === null) return;
    this.#end = end;
    this.#leftover = running.window.text();
    this.#running = null;
    running.settle(end);
  }
}
