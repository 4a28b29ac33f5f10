/**
 * Runs an installer for a script: it is heard only when it fails, and then by its last line.
 * Must not be used for a program that a person waits for.
 */
import { spawn } from 'node:child_process';

/** A registry that hiccups is asked again; one that is away for longer is not waited for. */
const TRIES = 3;
const PAUSE_MS = 5_000;

/**
 * Runs a step that reaches the network, three times at most with a pause between, and says each try that failed.
 * Rejects with the name of the step, what it installs, and the last line of the last try.
 * @type {(step: string, command: string, args: readonly string[], options: import('node:child_process').SpawnOptions & { readonly pauseMs?: number }) => Promise<void>}
 */
export async function runNetworkStep(step, command, args, { pauseMs = PAUSE_MS, ...options }) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await runQuietly(command, args, options);
    } catch (error) {
      if (tries === TRIES)
        throw new Error(`${step} failed ${TRIES} times: ${error.message}`, { cause: error });
      process.stderr.write(`parley: ${step} failed (try ${tries} of ${TRIES}): ${error.message}\n`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/**
 * Resolves when the program ends well; rejects with its exit code and the last line it said on standard error.
 * @type {(command: string, args: readonly string[], options: import('node:child_process').SpawnOptions) => Promise<void>}
 */
export function runQuietly(command, args, options) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (said += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else
        reject(new Error(`${command} ended with exit code ${code}: ${said.trim().split('\n').at(-1) ?? ''}`));
    });
  });
}
