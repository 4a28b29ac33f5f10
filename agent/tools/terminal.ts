/**
 * The tool that runs shell commands in the conversation's terminal.
 * Owns how long a call waits, what happens to a command that still runs, and how the outcome is reported.
 */
import { hostname, userInfo } from 'node:os';

import { z } from 'zod';

import { isThere } from '../is-there.ts';
import { OBSERVATION_CHARS_MAX, TERMINAL_QUIET_MS, TERMINAL_WAIT_MS_MAX } from '../limits.ts';
import { boundText } from '../text-bound.ts';
import { TerminalSession } from './terminal-session.ts';
import { defineTool } from './tool.ts';
import type { GrowingOutput, OutputListener, Tool, ToolResult, ToolSurroundings } from './tool.ts';

const DESCRIPTION = `Runs a command in a persistent bash session: working directory, variables and functions last.
- Secrets of the task are in the environment, by name.
- Standard input is empty: give input by a pipe or a here-document, and use flags that answer prompts.
- A command without new output for ${TERMINAL_QUIET_MS / 1000} s is reported with exit code -1 while it goes on. Then call again with an empty command to wait for more, or with command "C-c" and is_input true to interrupt it. Give timeout, in seconds, to wait longer at once.
- Start servers in the background: \`command > server.log 2>&1 &\`.
- Long output is cut in the middle.`;

const schema = z.object({
  command: z.string().describe('The command. Empty: wait for more output of the one that still runs.'),
  is_input: z.boolean().default(false).describe('True: "C-c" interrupts the running command.'),
  timeout: z.number().positive().nullish().describe('Seconds to wait for the command, however silent it is.'),
  reset: z.boolean().default(false).describe('True: start a fresh session; what runs is killed.'),
});
type TerminalArguments = z.output<typeof schema>;

export function makeTerminalTool(around: ToolSurroundings): Tool {
  const terminal = new Terminal(around);
  return defineTool({
    name: 'terminal',
    title: 'Terminal',
    kindStem: 'Terminal',
    description: DESCRIPTION,
    schema,
    run: (args, signal, onOutput) => terminal.watched(onOutput, () => terminal.run(args, signal)),
    close: () => terminal.close(),
  });
}

class Terminal {
  readonly #around: ToolSurroundings;
  /** All output of all commands, so that a secret is recognised in whatever pieces it comes. */
  readonly #output: GrowingOutput;
  #onOutput: OutputListener | null = null;
  #session: TerminalSession | null = null;
  #exported: Readonly<Record<string, string>> = {};
  #workingDir: string;
  #startedMs = 0;

  constructor(around: ToolSurroundings) {
    this.#around = around;
    this.#workingDir = around.workingDir;
    this.#output = around.growing((piece) => this.#onOutput?.(piece));
  }

  /** What commands print while `run` goes on is for `onOutput`; what they print between two calls is for the result. */
  async watched(onOutput: OutputListener | null, run: () => Promise<ToolResult>): Promise<ToolResult> {
    this.#output.skip();
    this.#onOutput = onOutput;
    try {
      return await run();
    } finally {
      this.#output.skip();
      this.#onOutput = null;
    }
  }

  close(): void {
    this.#session?.close();
    this.#session = null;
  }

  async run(args: TerminalArguments, signal: AbortSignal): Promise<ToolResult> {
    if (args.command.includes('\0')) return this.#refuse(args, 'A command cannot hold a NUL character.');
    if (args.reset) {
      this.close();
      this.#workingDir = this.#around.workingDir;
      if (args.command.trim() === '')
        return this.#result(args, 'The terminal was reset.', { exitCode: 0, suffix: '' });
    }
    const running = this.#session?.busy === true ? this.#session : null;
    if (args.is_input || args.command.trim() === '') return await this.#attend(args, running, signal);
    if (running !== null) {
      return this.#refuse(
        args,
        `The previous command still runs: ${running.command ?? ''}\nCall with an empty command to wait for it, with command "C-c" and is_input true to interrupt it, or with reset true for a fresh session.`,
      );
    }
    const session = await this.#readySession();
    this.#startedMs = this.#around.nowMs();
    session.start(args.command, this.#around.uuid());
    return await this.#wait(args, session, signal);
  }

  async #attend(
    args: TerminalArguments,
    running: TerminalSession | null,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    if (running === null) return this.#refuse(args, 'No command is running.');
    const input = args.command.trim();
    if (input === 'C-c') {
      await running.interrupt();
      return this.#tell(args, running, 'ended');
    }
    if (input !== '') return this.#refuse(args, 'Commands have no input here: only "C-c" can be sent.');
    return await this.#wait(args, running, signal);
  }

  async #wait(args: TerminalArguments, session: TerminalSession, signal: AbortSignal): Promise<ToolResult> {
    const askedMs = args.timeout === null || args.timeout === undefined ? null : args.timeout * 1000;
    const outcome = await waitForCommand(session, {
      quietMs: askedMs === null ? TERMINAL_QUIET_MS : null,
      totalMs: Math.min(askedMs ?? TERMINAL_WAIT_MS_MAX, TERMINAL_WAIT_MS_MAX),
      signal,
    });
    if (outcome === 'aborted') await session.interrupt();
    return this.#tell(args, session, outcome);
  }

  /** A live session that has every secret as it is now, before the next command runs. */
  async #readySession(): Promise<TerminalSession> {
    const secrets = this.#around.secrets();
    if (this.#session?.alive === true) {
      const changed = Object.entries(secrets).filter(([name, value]) => this.#exported[name] !== value);
      if (changed.length > 0) {
        const exports = changed.map(([name, value]) => `export ${name}=${singleQuoted(value)}`);
        this.#session.start(exports.join('\n'), this.#around.uuid());
        await this.#session.ended();
        this.#session.take();
      }
    }
    if (this.#session?.alive !== true) {
      // A command may have removed the directory the last shell was in.
      const candidates = [this.#workingDir, this.#around.workingDir];
      this.#workingDir = candidates.find((path) => isThere(path)) ?? '/';
      this.#session = await TerminalSession.open({ workingDir: this.#workingDir, secrets });
      this.#session.onText = (text) => this.#output.push(text);
    }
    this.#exported = secrets;
    return this.#session;
  }

  #tell(args: TerminalArguments, session: TerminalSession, outcome: WaitOutcome): ToolResult {
    const { end, output } = session.take();
    this.#workingDir = session.workingDir;
    if (end === null) {
      const ranS = Math.round((this.#around.nowMs() - this.#startedMs) / 1000);
      const why =
        outcome === 'quiet' ? `no new output for ${TERMINAL_QUIET_MS / 1000} s` : 'the waiting time is over';
      const suffix = `\n[The command still runs after ${ranS} s: ${why}. Call with an empty command to wait for more, or send "C-c" with is_input true.]`;
      return this.#result(args, output, { exitCode: -1, suffix });
    }
    const interrupted = outcome === 'aborted' ? ' It was interrupted by the user.' : '';
    const ended = end.shellEnded
      ? ' The shell ended with it; the next command gets a fresh one in the same directory.'
      : '';
    const suffix = `\n[The command completed with exit code ${end.exitCode}.${interrupted}${ended}]\n[Working directory: ${end.workingDir}]`;
    return this.#result(args, output, { exitCode: end.exitCode, suffix });
  }

  #refuse(args: TerminalArguments, text: string): ToolResult {
    return { ...this.#result(args, text, { exitCode: -1, suffix: '' }), isError: true };
  }

  #result(
    args: TerminalArguments,
    output: string,
    outcome: { readonly exitCode: number; readonly suffix: string },
  ): ToolResult {
    const text = boundText(this.#around.mask(output).replace(/\r\n/g, '\n').trimEnd(), OBSERVATION_CHARS_MAX);
    return {
      text,
      isError: false,
      fields: {
        command: args.command,
        exit_code: outcome.exitCode,
        timeout: outcome.exitCode === -1,
        metadata: {
          exit_code: outcome.exitCode,
          pid: this.#session?.pid ?? -1,
          username: userInfoName(),
          hostname: hostname(),
          working_dir: this.#workingDir,
          prefix: '',
          suffix: outcome.suffix,
        },
      },
    };
  }
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A sandbox may run us under a user id that has no name. */
function userInfoName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? -1);
  }
}

/** Waiting for a terminal command: until it ends, falls silent, takes too long, or the run is interrupted. */
type WaitOutcome = 'ended' | 'quiet' | 'late' | 'aborted';

/** Never rejects, never ends the command itself. `quietMs` null: silence does not matter. */
async function waitForCommand(
  session: TerminalSession,
  bound: { readonly quietMs: number | null; readonly totalMs: number; readonly signal: AbortSignal },
): Promise<WaitOutcome> {
  if (bound.signal.aborted) return 'aborted';
  const { quietMs } = bound;
  let stop: (outcome: WaitOutcome) => void = () => undefined;
  const stopped = new Promise<WaitOutcome>((resolve) => (stop = resolve));
  const late = setTimeout(() => stop('late'), bound.totalMs);
  const quiet = quietMs === null ? null : setTimeout(() => stop('quiet'), quietMs);
  const aborted = (): void => stop('aborted');
  bound.signal.addEventListener('abort', aborted, { once: true });
  session.onOutput = () => quiet?.refresh();
  try {
    return await Promise.race([session.ended().then((): WaitOutcome => 'ended'), stopped]);
  } finally {
    clearTimeout(late);
    if (quiet !== null) clearTimeout(quiet);
    bound.signal.removeEventListener('abort', aborted);
    session.onOutput = () => undefined;
  }
}
