/**
 * The second process of a sandbox: becomes the agent server.
 * Owns taking the session key from a pipe into this process alone, so that it stands in no environment that another
 * process can read, and closing this process's memory to the others. Must not keep or print the key.
 */
import { closeSync, readFileSync } from 'node:fs';
import Module from 'node:module';
import { runCompiled } from './compiled-code.ts';
import type { InitArguments } from './arguments.ts';
import { loadObject } from './guard.ts';
import { takeOn } from './other-user.ts';

/** The name under which Agent Servers read their key. */
const KEY_VARIABLE = 'OH_SESSION_API_KEYS_0';
/** Where the first program leaves the key. */
export const KEY_DESCRIPTOR = 3;

/** Runs the file as Node.js runs the file of its command line. */
export function becomeAgent({
  guard,
  otherUser,
  agentServer: file,
}: Pick<InitArguments, 'guard' | 'otherUser' | 'agentServer'>): void {
  if (otherUser !== null) takeOn(otherUser);
  if (guard !== null) loadObject(guard);
  process.env[KEY_VARIABLE] = takeText(KEY_DESCRIPTOR);
  process.argv.splice(1, process.argv.length - 1, file);
  if (!runCompiled(file)) Module.runMain();
}

/** All that is in the pipe; it cannot be read again. */
export function takeText(descriptor: number): string {
  try {
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}
