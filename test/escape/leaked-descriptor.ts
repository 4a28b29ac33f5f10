/**
 * A descriptor that the shell of `parley run` left open, made in this process.
 * Owns opening it; close-on-exec is off, as for what `exec 40<` opens, and Node.js itself never opens such a one.
 */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemCallObject } from '../../runtimes/on-host/guard/system-call-object.ts';

/** Above those that Node.js checks by itself. */
export const LEAKED_DESCRIPTOR = 140;

/** `dir` open in this process under that number; the object is kept in `dir`. False where there is none to make it. */
export function leakDescriptor(dir: string): boolean {
  const source = openSync(dir, 'r');
  const dup3 = { number: { x64: 292, arm64: 24 }, args: [source, LEAKED_DESCRIPTOR, 0] } as const;
  const object = systemCallObject(process.arch, dup3);
  if (object === null || process.platform !== 'linux') return false;
  const file = path.join(dir, 'dup3.node');
  writeFileSync(file, object);
  try {
    process.dlopen({ exports: {} }, file);
  } catch {
    // Node.js refuses what is no addon; the call was made by then.
  }
  closeSync(source);
  return true;
}
