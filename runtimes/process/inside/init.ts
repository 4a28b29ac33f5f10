/**
 * The first program of ours inside a sandbox: opens the bridges to the host, starts the agent server, keeps its log
 * bounded, passes signals on and ends with it. A program of its own, bundled to one file; imports nothing of the host's.
 * Orphans are reaped by bubblewrap's own process 1: Node.js waits only for children it started itself.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { parseInitArguments } from './arguments.ts';
import { openBridge } from './bridge.ts';
import { createBoundedLog } from './bounded-log.ts';

/** Exit code when the agent server was never started. */
const SETUP_FAILED = 70;
const FORWARDED_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

async function main(): Promise<void> {
  const { bridges, logBytesMax, command } = parseInitArguments(process.argv.slice(2));
  const log = createBoundedLog(1, logBytesMax);
  await Promise.all(bridges.map(openBridge));
  const [program = '', ...programArguments] = command;
  const child = spawn(program, programArguments, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.on('data', log);
  child.stderr.on('data', log);
  forwardSignals(child);
  process.exitCode = await exitCode(child, log);
  process.exit();
}

function forwardSignals(child: ChildProcess): void {
  for (const signal of FORWARDED_SIGNALS) process.on(signal, () => child.kill(signal));
}

/** A shell's convention: 128 plus the number of the signal that ended it. */
function exitCode(child: ChildProcess, log: (chunk: Uint8Array) => void): Promise<number> {
  return new Promise((resolve) => {
    child.on('error', (error) => {
      log(Buffer.from(`Cannot start agent server: ${error.message}\n`));
      resolve(SETUP_FAILED);
    });
    child.on('exit', (code, signal) => {
      // A process left behind may hold the pipes open: what was printed until now has to do.
      setImmediate(() => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
    });
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`Cannot start sandbox: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(SETUP_FAILED);
});
