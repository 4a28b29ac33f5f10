/**
 * Runs one program in the foreground for a script: same terminal, same signals, same exit code.
 * Must not interpret what the program prints.
 */
import { spawn } from 'node:child_process';
import os from 'node:os';
import { ROOT } from './setup.js';

/** Signals a person or a supervisor sends to the script and means for the program. */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Runs Node on `args` from the root and resolves with its exit code; 128 + signal when a signal ended it. */
export function runNode(args, options = {}) {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', ...options });
  const forward = (signal) => child.kill(signal);
  for (const signal of FORWARDED) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      for (const name of FORWARDED) process.off(name, forward);
      resolve(code ?? 128 + os.constants.signals[signal]);
    });
  });
}
