/**
 * The log of a sandbox, kept below a bound while no process outside is there to rotate it.
 * Owns the file behind one descriptor; must not read anything else.
 */
import { fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';

/** Printed where older lines are missing. */
const CUT_NOTE = '[earlier lines were cut]\n';

/**
 * Writes chunks to `descriptor`, opened for reading and appending. When the file would pass `bytesMax`, its older half
 * is dropped first. A descriptor that is no regular file is written to as it is. Failing writes are dropped:
 * a full disk must not end the agent.
 */
export function createBoundedLog(descriptor: number, bytesMax: number): (chunk: Uint8Array) => void {
  const bounded = fstatSync(descriptor).isFile();
  return (chunk) => {
    try {
      const part = chunk.subarray(-Math.floor(bytesMax / 2));
      if (bounded && fstatSync(descriptor).size + part.length > bytesMax) cut(descriptor, bytesMax);
      writeSync(descriptor, part);
    } catch {
      // There is no other place to report this: failures are written to this log.
    }
  };
}

/** Keeps the newest quarter, so that cutting is rare. */
function cut(descriptor: number, bytesMax: number): void {
  const { size } = fstatSync(descriptor);
  const kept = Buffer.alloc(Math.min(size, Math.floor(bytesMax / 4)));
  const bytesRead = readSync(descriptor, kept, 0, kept.length, size - kept.length);
  const text = kept.subarray(0, bytesRead);
  const lineEnd = text.indexOf(0x0a);
  ftruncateSync(descriptor, 0);
  writeSync(descriptor, CUT_NOTE);
  writeSync(descriptor, text.subarray(lineEnd + 1));
}
