/**
 * The object that closes a process to the others of its user: `prctl(PR_SET_DUMPABLE, 0)` when it is loaded.
 * A process that made that call hides its memory, environment and open files from every other process of the same user,
 * until it executes another program. Owns which call it is; must not load the object.
 */
import { systemCallObject } from './system-call-object.ts';

const PR_SET_DUMPABLE = 4;

/** Null for a processor it was not written for. */
export function guardObject(processor: string): Uint8Array | null {
  return systemCallObject(processor, { number: { x64: 157, arm64: 167 }, args: [PR_SET_DUMPABLE, 0, 0] });
}
