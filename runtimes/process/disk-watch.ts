/**
 * Sandboxes that keep more on disk than they may.
 * Owns looking now and then, and ending those that are over the bound; the reason stays behind for the last words.
 * Must not remove a file: what is there belongs to the user.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { findProcesses } from './incarnation.ts';
import { DISK_LIMIT } from './last-words.ts';
import { DISK_LOOK_TIMEOUT_MS } from './limits.ts';
import type { SandboxPaths } from './sandbox-paths.ts';
import { killProcesses } from './stop-incarnation.ts';

const run = promisify(execFile);
const KIBIBYTE = 1024;

export interface DiskWatch {
  readonly bytesMax: number;
  readonly everyMs: number;
  /** Sandboxes that are up at this moment. */
  readonly upNow: () => Promise<readonly SandboxPaths[]>;
}

/** Goes on until this process ends, and does not keep it from ending. */
export function watchDisks(watch: DiskWatch): void {
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      for (const paths of await watch.upNow()) await endIfOver(paths, watch.bytesMax);
    } catch {
      // What could not be looked at now is looked at next time.
    } finally {
      isLooking = false;
    }
  };
  setInterval(() => void look(), watch.everyMs).unref();
}

async function endIfOver(paths: SandboxPaths, bytesMax: number): Promise<void> {
  if ((await bytesOnDisk(paths)) <= bytesMax) return;
  await writeFile(paths.endedFor, `${DISK_LIMIT}\n`, { mode: 0o600 });
  await killProcesses(await findProcesses(paths));
}

/**
 * Blocks that are really taken: a sparse file counts as what was written of it. What could not be read counts as
 * nothing; a removal in the middle is ordinary.
 */
export async function bytesOnDisk({ workspace, agent, log }: SandboxPaths): Promise<number> {
  const options = { timeout: DISK_LOOK_TIMEOUT_MS, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
  const told = await run('du', ['-skx', '--', workspace, agent, log], options).catch(
    (error: { readonly stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  const sizes = told.stdout.split('\n').map((line) => Number(/^\d+/.exec(line)?.[0] ?? 0));
  return sizes.reduce((sum, size) => sum + size, 0) * KIBIBYTE;
}
