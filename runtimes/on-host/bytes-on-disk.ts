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
  return (await summed(['-skx'], trees)) * KIBIBYTE;
}

/** Files and folders; one of several names counts once. None where the system's tool cannot count them. */
export async function filesOnDisk(trees: readonly string[]): Promise<number> {
  return await summed(['-sx', '--inodes'], trees);
}

async function summed(flags: readonly string[], trees: readonly string[]): Promise<number> {
  const options = { timeout: DISK_LOOK_TIMEOUT_MS, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
  const told = await run('du', [...flags, '--', ...trees], options).catch(
    (error: { readonly stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  const sizes = told.stdout.split('\n').map((line) => Number(/^\d+/.exec(line)?.[0] ?? 0));
  return sizes.reduce((sum, size) => sum + size, 0);
}
