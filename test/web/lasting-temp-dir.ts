/**
 * A temporary folder for the tests of one file together.
 * Owns its creation; it is removed by what `atEnd` is given.
 */
import { mkdtempSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { AtEnd } from '../helpers/end-process.ts';
import { removeDir } from '../helpers/temp-dir.ts';

export function lastingTempDir(atEnd: AtEnd): string {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'parley-')));
  atEnd(() => removeDir(folder));
  return folder;
}
