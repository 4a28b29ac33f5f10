/**
 * Folders that a test fills and that are gone when it ends.
 * Owns their creation and removal; must not know what is put into them.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** Removal is tried again this often, a tenth of a second later each time: a process that is just ending may still write. */
const REMOVE_RETRIES = 20;

/** A new, empty folder under the system's temporary one, removed when the running test ends. Call it inside a test. */
export function tempDir(): string {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'parley-')));
  onTestFinished(() => {
    removeDir(folder);
  });
  return folder;
}

/** Removes a folder with all it holds; a missing one is no error. */
export function removeDir(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: REMOVE_RETRIES });
}
