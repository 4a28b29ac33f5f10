/**
 * Whether something is at a path. Owns how that is checked: `access` would check for the real user of the process, and
 * a server that is another user than its tools touches files as theirs.
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
