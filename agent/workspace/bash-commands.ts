/**
 * Commands that callers outside the agent have run, with their output, for as long as the server runs.
 * Owns their start, stop and record, bounded in number and bytes; how bash is started is in bash.ts.
 * Output is one row, written when the command has ended: half a secret in a row of its own would not be recognised.
 */
import type { Activity } from '../activity.ts';
import { ByteWindow } from '../text-bound.ts';
import { HttpError } from '../serve/http-error.ts';
import { hexOf } from '../ids.ts';
import {
  BASH_COMMANDS_AT_ONCE_MAX,
  BASH_COMMANDS_KEPT_MAX,
  BASH_KEPT_BYTES_MAX,
  BASH_OUTPUT_BYTES_MAX,
} from '../limits.ts';
import { messageOf } from '../serve/log.ts';
import type { SecretVault } from '../secret-vault.ts';
import { zonedTimestamp } from '../timestamp.ts';
import type { World } from '../world.ts';
import { runChild } from './child.ts';
import { shellEnvironment } from './shell-environment.ts';

export interface BashCommand {
  readonly id: string;
  readonly timestamp: string;
  readonly command: string;
  readonly cwd: string;
  /** Seconds. */
  readonly timeout: number;
  readonly kind: 'BashCommand';
}
export interface BashOutput {
  readonly id: string;
  readonly timestamp: string;
  readonly command_id: string;
  readonly order: number;
  /** -1 when time ran out or the command was stopped; the streams are then null. */
  readonly exit_code: number;
  readonly stdout: string | null;
  readonly stderr: string | null;
  readonly kind: 'BashOutput';
}
export type BashEvent = BashCommand | BashOutput;

interface BashRequest {
  readonly command: string;
  readonly cwd: string;
  /** Seconds. */
  readonly timeout: number;
}

interface Started {
  readonly command: BashCommand;
  readonly output: Promise<BashOutput>;
}

export class BashCommands {
  readonly #around: {
    readonly world: World;
    readonly vault: SecretVault;
    readonly activity: Activity;
    readonly stopping: AbortSignal;
  };
  #events: BashEvent[] = [];
  readonly #running = new Map<string, AbortController>();

  constructor(around: {
    readonly world: World;
    readonly vault: SecretVault;
    readonly activity: Activity;
    readonly stopping: AbortSignal;
  }) {
    this.#around = around;
  }

  /**
   * Starts a command; `output` resolves when it has ended, and rejects when bash could not be started.
   *
   * @throws HttpError 429 too many run already
   */
  start(request: BashRequest): Started {
    if (this.#running.size >= BASH_COMMANDS_AT_ONCE_MAX)
      throw new HttpError(429, `Cannot start command: ${BASH_COMMANDS_AT_ONCE_MAX} run already`);
    const { world, vault, activity, stopping } = this.#around;
    const id = hexOf(world.uuid());
    const timestamp = zonedTimestamp(world.nowMs());
    const command: BashCommand = {
      ...{ id, timestamp, command: vault.text(request.command), cwd: request.cwd },
      ...{ timeout: request.timeout, kind: 'BashCommand' },
    };
    const abort = new AbortController();
    this.#running.set(id, abort);
    this.#keep(command);
    const signal = AbortSignal.any([abort.signal, stopping]);
    const run = { command: request.command, cwd: request.cwd, timeoutMs: request.timeout * 1000, signal };
    const output = activity
      .during(() => runBash(run))
      .then((outcome) => this.#ended(id, outcome))
      .catch((error: unknown) => {
        const told = `Cannot run command in "${request.cwd}": ${messageOf(error)}`;
        this.#ended(id, { exitCode: -1, stdout: null, stderr: told });
        throw new HttpError(400, told);
      });
    return { command, output };
  }

  #ended(commandId: string, outcome: BashOutcome): BashOutput {
    const { world, vault } = this.#around;
    this.#running.delete(commandId);
    const output: BashOutput = {
      id: hexOf(world.uuid()),
      timestamp: zonedTimestamp(world.nowMs()),
      command_id: commandId,
      order: 0,
      exit_code: outcome.exitCode,
      stdout: vault.deep(outcome.stdout),
      stderr: vault.deep(outcome.stderr),
      kind: 'BashOutput',
    };
    this.#keep(output);
    return output;
  }

  #keep(event: BashEvent): void {
    this.#events.push(event);
    let commands = this.#events.filter(({ kind }) => kind === 'BashCommand').length;
    let bytes = this.#events.reduce((sum, kept) => sum + sizeOf(kept), 0);
    while (commands > BASH_COMMANDS_KEPT_MAX || bytes > BASH_KEPT_BYTES_MAX) {
      const oldest = this.#events[0];
      if (oldest === undefined || oldest === event) return;
      this.#events = this.#events.slice(1);
      bytes -= sizeOf(oldest);
      if (oldest.kind === 'BashCommand') commands -= 1;
    }
  }

  /** In order of time. */
  events(): readonly BashEvent[] {
    return this.#events;
  }

  /** Ends a command; false when it does not run. */
  stop(id: string): boolean {
    const running = this.#running.get(id);
    running?.abort();
    return running !== undefined;
  }

  /** Forgets what has ended, and returns how many events that were. */
  clear(): number {
    const kept = this.#events.filter((event) => this.#running.has(event.id));
    const cleared = this.#events.length - kept.length;
    this.#events = kept;
    return cleared;
  }
}

function sizeOf(event: BashEvent): number {
  return event.kind === 'BashCommand'
    ? event.command.length
    : (event.stdout?.length ?? 0) + (event.stderr?.length ?? 0);
}

/** The command comes over a descriptor of its own: an argument would be seen by every process of the sandbox. */
const DRIVER = `IFS= read -r -d '' -u 3 __parley_command; exec 3<&-; eval "$__parley_command"`;

/**
 * One command in a fresh shell, for callers outside the agent. Owns how the command reaches bash and the form of the
 * answer; keeps no history.
 */
interface BashOutcome {
  /** -1 when time ran out; the streams are then null. */
  readonly exitCode: number;
  readonly stdout: string | null;
  readonly stderr: string | null;
}

/** @throws the system's error when bash cannot be started, as with a missing `cwd` */
async function runBash(request: {
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}): Promise<BashOutcome> {
  const stdout = new ByteWindow(BASH_OUTPUT_BYTES_MAX);
  const stderr = new ByteWindow(BASH_OUTPUT_BYTES_MAX);
  const exitCode = await runChild({
    program: 'bash',
    args: ['-c', DRIVER],
    cwd: request.cwd,
    env: shellEnvironment({}),
    script: `${request.command}\0`,
    timeoutMs: request.timeoutMs,
    onStdout: (chunk) => stdout.push(chunk),
    onStderr: (chunk) => stderr.push(chunk),
    signal: request.signal,
  });
  if (exitCode === null) return { exitCode: -1, stdout: null, stderr: null };
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
}
