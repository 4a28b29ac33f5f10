/**
 * The end of a process that a test started.
 * Owns the wait: until it is gone it may write into folders that the test removes next.
 */
import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';

/** Takes what is done after a test, or after all tests of a file; the last one given is done first. */
export type AtEnd = (end: () => void | Promise<void>) => void;

/** Resolves when it is gone; at once if it ended before. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
