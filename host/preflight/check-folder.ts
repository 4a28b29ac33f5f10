/**
 * Whether a folder can be written, the folders above it made where they are missing.
 * Owns the try: one small file, gone again at once; must leave nothing behind.
 */
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { failed, passed, type Finding } from '../finding.ts';

/** A full disk still makes empty files. */
const TRIED_BYTES = 4_096;

const REMEDY = 'change its owner, or name another path in parley.yaml';

/** The nearest folder that exists must take a file: the rest is made when it is needed. */
export function checkFolder(check: string, folder: string): Finding {
  let existing = folder;
  while (!existsSync(existing) && path.dirname(existing) !== existing) existing = path.dirname(existing);
  if (!statSync(existing).isDirectory())
    return failed(check, `"${existing}" is no folder`, 'name another path in parley.yaml');
  let tried: string | null = null;
  try {
    tried = mkdtempSync(path.join(existing, '.parley-try-'));
    writeFileSync(path.join(tried, 'try'), Buffer.alloc(TRIED_BYTES));
    return passed(check, folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT')
      return failed(
        check,
        `"${existing}" has no space left`,
        'make room, or name another path in parley.yaml',
      );
    const why = code === 'EROFS' ? ': it is on a disk that can only be read' : '';
    return failed(check, `"${existing}" cannot be written${why}`, REMEDY);
  } finally {
    if (tried !== null) rmSync(tried, { recursive: true, force: true });
  }
}
