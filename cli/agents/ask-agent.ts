/**
 * Whether a program that was installed speaks the Agent Client Protocol on this machine, and which version it says it is.
 * Owns one question on pipes, in a home of its own; must not give it a key or a task.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { CliError } from '../../host/cli-error.ts';

export interface AskedProgram {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
}

/** The first start of a program that unpacks itself, on a machine that is busy. */
const ANSWER_MS_MAX = 120_000;
/** Of what it says to people before it gives up. */
const SAID_CHARS_MAX = 600;

const QUESTION = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: 1, clientCapabilities: {} },
};

/** The version that it says it is; null when it says none. @throws CliError when it does not answer */
export async function askAgent({ file, args }: AskedProgram): Promise<string | null> {
  const home = mkdtempSync(path.join(tmpdir(), 'parley-agent-'));
  const child = spawn(file, args, {
    cwd: home,
    env: { PATH: `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`, HOME: home },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said = `${said}${text.toString()}`.slice(-SAID_CHARS_MAX)));
  child.stdin.on('error', () => undefined);
  const timer = setTimeout(() => end(child.pid), ANSWER_MS_MAX);
  try {
    child.stdin.write(`${JSON.stringify(QUESTION)}\n`);
    const failure = new Promise<never>((_resolve, reject) => {
      child.once('error', (error) => reject(refusal(path.basename(file), error.message)));
      child.once('exit', () => setImmediate(() => reject(refusal(path.basename(file), said.trim()))));
    });
    failure.catch(() => undefined);
    return await Promise.race([answerOf(createInterface({ input: child.stdout })), failure]);
  } finally {
    clearTimeout(timer);
    end(child.pid);
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function answerOf(lines: AsyncIterable<string>): Promise<string | null> {
  for await (const line of lines) {
    const answer = parsed(line);
    if (answer?.id !== 1) continue;
    return answer.result?.agentInfo?.version ?? null;
  }
  // The end of the program says why.
  return await new Promise(() => undefined);
}

interface InitializeAnswer {
  readonly id?: unknown;
  readonly result?: { readonly agentInfo?: { readonly version?: string } };
}

function parsed(line: string): InitializeAnswer | null {
  try {
    return JSON.parse(line) as InitializeAnswer | null;
  } catch {
    return null;
  }
}

/** With all that it has started. */
function end(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function refusal(name: string, said: string): CliError {
  return new CliError(
    `Cannot use "${name}": it does not speak the Agent Client Protocol here${said === '' ? '' : `\n${said}`}`,
    {
      remedy:
        'where its package needs its install scripts, add --with-scripts; another version is chosen with NAME@VERSION',
    },
  );
}
