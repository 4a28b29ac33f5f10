/**
 * Whom a sandbox that root starts belongs to on the host: a user of its own, so that the kernel counts it apart from all
 * others, and what gets out is nobody. Owns the numbers, and giving it what it may write; an ordinary user can give
 * nothing away, so its sandboxes are that user's.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chown, lstat } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Below 2^31, and above what systems give to people, services and containers. */
const FIRST_USER = 1_900_000_000;
/** So many that two sandboxes of a host hardly ever share one; if they do, they are still kept apart by all else. */
const USERS = 2 ** 26;
/** Belongs to no sandbox. */
export const TRIAL_USER = FIRST_USER - 1;
/** Trees of a former owner; millions of files take minutes. */
const GIVE_TIMEOUT_MS = 600_000;

/** The same for every incarnation, because its files stay. */
export function hostUserOf(sandboxDir: string): number {
  return FIRST_USER + (createHash('sha256').update(sandboxDir).digest().readUInt32BE(0) % USERS);
}

/** A directory with what is in it; links are given and never followed. Nothing of the sandbox may run. */
export async function giveTo(user: number, directory: string): Promise<void> {
  const { uid, gid } = await lstat(directory);
  if (uid === user && gid === user) return;
  await run('chown', ['-hR', `${user}:${user}`, '--', directory], {
    timeout: GIVE_TIMEOUT_MS,
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
  });
  // Last, because by its owner the whole is judged: what broke off half way begins again.
  await chown(directory, user, user);
}
