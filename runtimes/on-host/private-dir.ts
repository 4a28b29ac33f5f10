/**
 * Directories that no other user may enter.
 * Owns making sure of it: a directory that another user made in a shared place is refused, not used.
 */
import { chmod, lstat, mkdir } from 'node:fs/promises';
import { ParleyError } from '../../core/parley-error.ts';

const PRIVATE_MODE = 0o700;

/** @throws ParleyError runtime_failed: the path is a symbolic link, no directory, or another user's */
export async function ensurePrivateDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: PRIVATE_MODE });
  const stat = await lstat(path);
  const ours = process.getuid === undefined || stat.uid === process.getuid();
  if (!stat.isDirectory() || !ours) {
    throw new ParleyError(
      'runtime_failed',
      `Cannot use directory "${path}": it is a link, or belongs to somebody else`,
    );
  }
  if ((stat.mode & 0o777) !== PRIVATE_MODE) await chmod(path, PRIVATE_MODE);
}
