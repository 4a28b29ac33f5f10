/**
 * Whether something is at a path. Owns the way that is asked: `access` would ask as whoever the process really is, and a
 * server that is another user than its tools touches files as theirs.
 */
import { statSync } from 'node:fs';

/** Links followed; what cannot be reached is not there. */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
