/**
 * Runs an installer for a script: it is heard only when it fails, and then by its last line.
 * Must not be used for a program that a person waits for.
 */
import { spawn } from 'node:child_process';

/** Resolves when the program ends well; rejects with its exit code and the last line it said on standard error. */
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
