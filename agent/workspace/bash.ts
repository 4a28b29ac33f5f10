/**
 * One command in a fresh shell, for callers outside the agent. Owns how the command reaches bash and the form of the
 * answer; keeps no history.
 */
import { runChild } from './child.ts';
import { BASH_OUTPUT_BYTES_MAX } from '../limits.ts';
import { shellEnvironment } from './shell-environment.ts';
import { ByteWindow } from '../text-bound.ts';

/** The command comes over a descriptor of its own: an argument would be seen by every process of the sandbox. */
const DRIVER = `IFS= read -r -d '' -u 3 __parley_command; exec 3<&-; eval "$__parley_command"`;

export interface BashOutcome {
  /** -1 when time ran out; the streams are then null. */
  readonly exitCode: number;
  readonly stdout: string | null;
  readonly stderr: string | null;
}

/** @throws the system's error when bash cannot be started, as with a missing `cwd` */
export async function runBash(request: {
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
