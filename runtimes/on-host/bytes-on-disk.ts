/**
 * What trees take on disk.
 * Owns asking the system's own tool for it.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { DISK_LOOK_TIMEOUT_MS } from './limits.ts';

const run = promisify(execFile);
const KIBIBYTE = 1024;

/**
 * Blocks that are really taken: a sparse file counts as what was written of it. What could not be read counts as
 * nothing; a removal in the middle is ordinary.
 */
export async function bytesOnDisk(trees: readonly string[]): Promise<number> {
  const options = { timeout: DISK_LOOK_TIMEOUT_MS, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
  const told = await run('du', ['-skx', '--', ...trees], options).catch(
    (error: { readonly stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  const sizes = told.stdout.split('\n').map((line) => Number(/^\d+/.exec(line)?.[0] ?? 0));
  return sizes.reduce((sum, size) => sum + size, 0) * KIBIBYTE;
}
